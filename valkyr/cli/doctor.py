"""`valkyr doctor`: check what an installation needs, part by part.

It includes Django's system checks (`valkyr/checks.py` and those of the apps) and adds checks that
these cannot make. A part that depends on a failed part is skipped.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any

from valkyr.cli.errors import CliError
from valkyr.cli.options import Choices

OURS = ("valkyr", "executions", "runners", "dlq", "valkyr_plugins")
# Warnings about problems that block commands and users.
SERIOUS = frozenset({"executions.W101", "valkyr.W030", "valkyr.W031", "valkyr.W032", "valkyr.W033"})
# The parts of an installation to which checks belong; all others are `settings`.
PARTS = {
    "executions.W101": "addresses",
    "runners.E002": "broker",
    "valkyr.W030": "broker",
    "valkyr.W031": "queues",
    "valkyr.E014": "beat",
    "valkyr.W015": "beat",
    "valkyr.W032": "beat",
    "valkyr.W033": "beat",
    "valkyr.E010": "celery",
    "valkyr.E011": "celery",
    "valkyr.E012": "celery",
    "valkyr.E013": "celery",
    "valkyr.E020": "database",
    "valkyr.E021": "database",
    "valkyr.E022": "database",
    "valkyr.E023": "database",
    "valkyr.I040": "sandbox",
    "valkyr.W041": "sandbox",
}
ORDER = (
    "settings", "addresses", "celery", "database", "sandbox", "migrations", "clock", "people",
    "modules", "broker", "queues", "beat",
)  # fmt: skip
POSTGRESQL = 150_000
APART = timedelta(seconds=5)


@dataclass(frozen=True)
class DoctorFinding:
    """A problem, or advice if `warning` is true: the part, a message, and what to do."""

    part: str
    id: str
    message: str
    hint: str
    warning: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the finding for `--json`."""
        return asdict(self)


@dataclass(frozen=True)
class Report:
    """The findings, and the checked parts in the order in which they are shown."""

    findings: list[DoctorFinding]
    parts: list[str]

    def of(self, part: str) -> list[DoctorFinding]:
        """Return the findings of a part."""
        return [one for one in self.findings if one.part == part]

    @property
    def failed(self) -> bool:
        """Return whether the report contains a problem, not only advice."""
        return any(not one.warning for one in self.findings)


def examine(choices: Choices) -> Report:
    """Return a report on all parts of the project; parts that need a failed part are skipped."""
    from valkyr.cli.project_settings import set_up

    try:
        set_up(choices.settings, choices.environment)
    except CliError as error:
        # The settings module reports each mistake on a separate line.
        lines = error.message.splitlines()
        found = [DoctorFinding("settings", "doctor.settings", one, error.hint) for one in lines]
        return Report(found, ["settings"])
    except Exception as error:  # any error of the project's modules during import
        text = f"The project cannot be loaded: {type(error).__name__}: {error}"
        hint = "Run `manage.py check` to find the place."
        return Report([DoctorFinding("settings", "doctor.settings", text, hint)], ["settings"])
    findings: list[DoctorFinding] = []
    looked = [*ORDER[: ORDER.index("database") + 1]]
    findings += _static()
    if _runs_code():
        looked.append("sandbox")
    if not _has(findings, "database"):
        findings += _database()
    if not _has(findings, "database"):
        findings += _grants()
    if not _has(findings, "database"):
        looked += ["migrations", "clock"]
        findings += [*_lock_limits(), *_migrations(), *_clock()]
        if not _has(findings, "migrations"):
            looked += ["people", "modules"]
            findings += [*_people(), *_modules(), *_partitions()]
            if not _has(findings, "celery", "settings", "clock"):
                looked += ["broker", "queues", "beat"]
                findings += _running()
    looked += [one.part for one in findings]
    return Report(findings, [part for part in ORDER if part in looked])


def _has(findings: list[DoctorFinding], *parts: str) -> bool:
    return any(one.part in parts and not one.warning for one in findings)


def _static() -> list[DoctorFinding]:
    """Return the findings of the system checks that need no network."""
    from django.core import checks

    return _told(checks.run_checks)


def _running() -> list[DoctorFinding]:
    """Return findings about the processes: the broker, a worker for each queue, and beat."""
    from valkyr.checks import what_is_missing

    return _told(lambda: list(what_is_missing()))


def _told(run: Callable[[], list[Any]]) -> list[DoctorFinding]:
    """Return findings from the system checks: errors of all apps, and advice about Valkyr."""
    try:
        messages = run()
    except Exception as error:  # a third-party check that cannot be run
        text = f"System checks cannot be run: {type(error).__name__}: {error}"
        return [DoctorFinding("settings", "doctor.checks", text, "See `manage.py check`.")]
    found = []
    for one in messages:
        name = one.id or ""
        serious = one.is_serious() or name in SERIOUS
        ours = name.partition(".")[0] in OURS
        if not one.is_silenced() and (serious or ours):
            part = PARTS.get(name, "settings")
            found.append(DoctorFinding(part, name, str(one.msg), one.hint or "", not serious))
    return found


def _runs_code() -> bool:
    """Return whether workflows can contain code. If not, findings about the sandbox are omitted."""
    from django.apps import apps

    if not apps.is_installed("valkyr_plugins.connectors"):
        return False
    from valkyr_plugins.connectors.code import javascript_code, python_code

    return python_code.is_on() or javascript_code.is_on()


def _database() -> Iterator[DoctorFinding]:
    """Check that the database accepts connections and is new enough."""
    from django.db import Error

    from executions.database import alias, connection

    try:
        connection.ensure_connection()
        version = connection.connection.info.server_version
    except Error as error:
        yield DoctorFinding(
            "database",
            "doctor.database",
            f"The database {alias()!r} accepts no connection: {str(error).strip()}",
            "Start it, or correct DATABASES.",
        )
        return
    if version < POSTGRESQL:
        yield DoctorFinding(
            "database",
            "doctor.version",
            f"The database {alias()!r} is PostgreSQL {version // 10_000}; expected 15 or newer.",
            "Upgrade the server.",
        )


# Recommended limits, by name. Without them, a frozen process that holds a row's lock blocks all
# other processes.
LOCK_LIMITS = {"idle_in_transaction_session_timeout": "5s", "lock_timeout": "3s"}


def _lock_limits() -> Iterator[DoctorFinding]:
    """Check that sessions have time limits, so that a frozen process cannot block executions."""
    from executions.database import alias, connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name FROM pg_settings WHERE name = ANY (%s) AND setting = '0' ORDER BY name",
            [[*LOCK_LIMITS]],
        )
        missing = [name for (name,) in cursor]
    if missing:
        user = connection.settings_dict["USER"] or connection.connection.info.user
        yield DoctorFinding(
            "database",
            "doctor.limits",
            f"Sessions of the database {alias()!r} have no {' and no '.join(missing)}: a process "
            "that freezes in a transaction can block executions.",
            " ".join(f"ALTER ROLE \"{user}\" SET {one} = '{LOCK_LIMITS[one]}';" for one in missing)
            + " Or set them in OPTIONS of DATABASES. See docs/how-to/existing-project.md.",
            warning=True,
        )


# Models to which rows can only be added: for all roles, the database rejects changes of the audit
# trail.
APPEND_ONLY = frozenset({"Activity", "AuditSeal"})
MISSING_GRANTS = """
SELECT c.relname, string_agg(g.privilege, ', ' ORDER BY g.privilege)
  FROM unnest(%s::text[], %s::text[]) AS g (name, privilege)
  JOIN pg_class c ON c.relname = g.name AND c.relkind IN ('r', 'p')
                 AND c.relnamespace = ANY (current_schemas(false)::regnamespace[])
 WHERE NOT has_table_privilege(c.oid, g.privilege)
 GROUP BY c.relname
 ORDER BY c.relname
"""


def _grants() -> Iterator[DoctorFinding]:
    """Check that the database role may read and write the tables that exist."""
    from executions.database import alias, connection

    wanted = [*_wanted_grants()]
    with connection.cursor() as cursor:
        cursor.execute(MISSING_GRANTS, [[one for one, _ in wanted], [one for _, one in wanted]])
        missing = cursor.fetchall()
    if missing:
        table, privileges = missing[0]
        user = connection.settings_dict["USER"] or connection.connection.info.user
        yield DoctorFinding(
            "database",
            "doctor.grants",
            f"{user!r} lacks privileges on {len(missing)} tables of the database {alias()!r}, "
            f"such as {privileges} on {table}.",
            f"As their owner: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public "
            f'TO "{user}", also by ALTER DEFAULT PRIVILEGES; or let {user!r} migrate.',
        )


def _wanted_grants() -> Iterator[tuple[str, str]]:
    """Yield (table, privilege) for each privilege that Valkyr needs."""
    from django.apps import apps
    from django.contrib.auth import get_user_model

    from executions.database.routing import is_ours

    yield from (("django_migrations", "SELECT"), (get_user_model()._meta.db_table, "SELECT"))
    for model in apps.get_models():
        if is_ours(model) and model._meta.managed and not model._meta.proxy:
            added = model.__name__ in APPEND_ONLY
            for privilege in ("SELECT", "INSERT") + (() if added else ("UPDATE", "DELETE")):
                yield model._meta.db_table, privilege


def _migrations() -> Iterator[DoctorFinding]:
    """Check that all migrations are applied."""
    from django.db.migrations.executor import MigrationExecutor

    from executions.database import alias, connection

    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if missing:
        first = missing[0][0]
        where = "" if alias() == "default" else f" --database {alias()}"
        yield DoctorFinding(
            "migrations",
            "doctor.migrations",
            f"{len(missing)} migrations are not applied, the first of them "
            f"{first.app_label}.{first.name}.",
            f"Run `python manage.py migrate{where}`.",
        )


def _clock() -> Iterator[DoctorFinding]:
    """Check that the clocks of this machine and of the database agree."""
    from executions.database.clock import database_now

    before = datetime.now(UTC)
    theirs = database_now()
    after = datetime.now(UTC)
    apart = max(before - theirs, theirs - after)
    if apart > APART:
        yield DoctorFinding(
            "clock",
            "doctor.clock",
            f"This machine's clock and the database's are {apart.total_seconds():,.0f} s apart; "
            f"expected at most {APART.total_seconds():g} s.",
            "Synchronise both with the same time server (NTP).",
        )


def _partitions() -> Iterator[DoctorFinding]:
    """Check the partitions of the runs' table, if the table is partitioned."""
    from runners.partitions.layout import layout
    from runners.partitions.upkeep import problems

    for problem in problems(layout()):
        hint = "See docs/how-to/partitions.md."
        yield DoctorFinding("database", "doctor.partitions", problem, hint, warning=True)


def _people() -> Iterator[DoctorFinding]:
    """Check that there is an active superuser, or an active user with a role in a workspace."""
    from django.contrib.auth import get_user_model

    from executions.models import Membership

    users: Any = get_user_model()._default_manager
    if not users.filter(is_superuser=True, is_active=True).exists() and not (
        Membership.objects.filter(user__is_active=True).exists()
    ):
        yield DoctorFinding(
            "people",
            "doctor.people",
            "There is no active superuser, and no user has a role in a workspace.",
            "Run `python manage.py createsuperuser`, or give a user a role in the admin.",
        )


def _modules() -> Iterator[DoctorFinding]:
    """Check that the modules of enabled workflows, with the packages they need, are installed."""
    from executions.models import Workflow
    from runners.modules.registry import specs

    known = specs()
    live = Workflow.objects.filter(enabled=True, archived_at=None, latest_version__isnull=False)
    users: dict[str, list[str]] = {}
    for workflow in live.select_related("latest_version").order_by("pk").iterator(200):
        newest: Any = workflow.latest_version
        for name in _used(newest.source):
            if name not in known or known[name].category == "not installed":
                users.setdefault(name, []).append(workflow.slug)
    for name, slugs in sorted(users.items()):
        more = f" and {len(slugs) - 1} more" if len(slugs) > 1 else ""
        install = known[name].description.removeprefix("Not installed. ") if name in known else ""
        yield DoctorFinding(
            "modules",
            "doctor.modules",
            f"The workflow {slugs[0]!r}{more} uses the module {name!r}, which is not installed.",
            install or "Add its plugin to INSTALLED_APPS, or name its package in EXTRA_MODULES.",
        )


def _used(definition: Any) -> set[str]:
    """Return the modules that a definition's steps, including nested ones, name with `use`."""
    if isinstance(definition, dict):
        found = {name for value in definition.values() for name in _used(value)}
        lists = [definition.get(name) for name in ("tasks", "modules")]
        steps = [definition.get("undo"), *chain(*(one for one in lists if isinstance(one, list)))]
        uses = (step.get("use") for step in steps if isinstance(step, dict))
        return found.union(use for use in uses if isinstance(use, str))
    if isinstance(definition, list):
        return {name for value in definition for name in _used(value)}
    return set()
