"""`valkyr doctor` finds each mistake that a test adds to a working project."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.hosts.project import HostProject, database_of_its_own, started
from tests.support import migrated, nursery
from tests.support.uv import PROJECT
from tests.support.waiting import wait_until
from tests.support.wheel import Environment

HERE = Environment(Path(sys.prefix))
# A clock that is an hour ahead, found before PostgreSQL's own.
SKEWED = """
CREATE SCHEMA skewed;
CREATE FUNCTION skewed.clock_timestamp() RETURNS timestamptz LANGUAGE sql
AS 'SELECT pg_catalog.clock_timestamp() + interval ''1 hour''';
"""
LATE = """
@app.on_after_finalize.connect
def add_periodic_tasks(sender, **_):
    sender.conf.beat_schedule = {}
"""
# An account that did not create the tables.
READER = """
DO $$ BEGIN
    CREATE ROLE doctor_reader LOGIN PASSWORD 'reader';
EXCEPTION WHEN duplicate_object THEN NULL; END $$;
GRANT USAGE ON SCHEMA public TO doctor_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO doctor_reader;
"""
AHEAD = "DATABASES['default']['OPTIONS'] = {'options': '-c search_path=skewed,public,pg_catalog'}"


class Patient:
    """A project with its worker and beat, and `valkyr` in it."""

    def __init__(self, host: HostProject, named: dict[str, str]) -> None:
        self.host, self._named = host, named

    def valkyr(self, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        named = {"PATH": os.environ["PATH"], "HOME": str(self.host.folder), **self._named, **more}
        command = [sys.executable, "-m", "valkyr", *words]
        return nursery.run(command, environment=named, folder=self.host.folder)

    def ids(self, **more: str) -> set[str]:
        """Return the ids of doctor's findings, without warnings."""
        found: list[dict[str, Any]] = self.told(**more)["findings"]
        return {one["id"] for one in found if not one["warning"]}

    def told(self, **more: str) -> dict[str, Any]:
        done = self.valkyr("doctor", "--json", **more)
        assert done.returncode in {0, 1}, done.stderr[-3000:]
        found: dict[str, Any] = json.loads(done.stdout)
        assert found["ok"] == (done.returncode == 0)
        return found

    def execute(self, statement: str) -> None:
        with psycopg.connect(**_parameters(self._named), autocommit=True) as connection:
            connection.execute(statement.encode())

    def beat_ticks(self) -> bool:
        """Return whether a worker has executed beat's tick, which doctor needs two seconds to
        report.
        """
        with psycopg.connect(**_parameters(self._named), autocommit=True) as connection:
            return connection.execute("SELECT FROM dlq_beatpulse").rowcount > 0


@pytest.fixture(scope="module")
def patient(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Patient]:
    folder = started(tmp_path_factory.mktemp("doctor"), HERE, "shop")
    settings = folder / "shop" / "settings.py"
    settings.write_text(
        settings.read_text().replace("sqlite3'", "postgresql'", 1).replace("BASE_DIR / 'db.", "'")
    )
    broker = os.environ["REDIS_URL"].rpartition("/")[0] + "/9"
    with database_of_its_own("doctor", like=migrated.NAME) as server:
        settings.write_text(settings.read_text().replace("'sqlite3'", "'doctor'"))
        named = server | {
            "PYTHONPATH": str(PROJECT), "CELERY_BROKER_URL": broker, "C_FORCE_ROOT": "1",
        }  # fmt: skip
        host = HostProject(folder, HERE, **named)
        made = Patient(host, named)
        try:
            said = made.valkyr("init", "--yes")
            assert said.returncode == 0, said.stderr
            host.prepare(username="ann", email="a@example.org")
            host.start("worker", "-m", "celery", "-A", "shop", "worker", "--concurrency", "2")
            host.start("beat", "-m", "celery", "-A", "shop", "beat")
            wait_until(made.beat_ticks, 90, f"the first tick of beat: {host.logs()}")
            wait_until(lambda: made.told()["ok"], 90, f"a healthy project: {host.logs()}")
            yield made
        finally:
            host.stop()


def _parameters(named: dict[str, str]) -> dict[str, Any]:
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
    found = {ours: named[theirs] for ours, theirs in names.items()}
    return found | {"dbname": named["PGDATABASE"]}


def test_a_project_in_which_all_is_there_is_found_well(patient: Patient) -> None:
    done = patient.valkyr("doctor")

    assert done.returncode == 0, done.stdout
    for part in ("settings", "addresses", "celery", "migrations", "clock", "queues", "beat"):
        assert part in done.stdout
    assert "problem" not in done.stdout


# The text to plant at the end of a file, doctor's id for it, and part of its advice.
PLANTED = {
    "apps": (
        "settings",
        "INSTALLED_APPS = [a for a in INSTALLED_APPS if a not in valkyr.APPS + valkyr.PLUGINS]",
        "doctor.settings", "Add *valkyr.APPS to INSTALLED_APPS",
    ),
    "an unknown setting": (
        "settings", "VALKYR = {'LEASE_SECOND': 20}", "doctor.settings", "LEASE_SECOND",
    ),
    "a value without sense": (
        "settings", "VALKYR = {'LEASE_SECONDS': 'soon'}", "doctor.settings", "LEASE_SECONDS",
    ),
    "settings that fail": ("settings", "1 / 0", "doctor.settings", "manage.py check"),
    "routes": (
        "urls", "urlpatterns = urlpatterns[:1]", "executions.W101", 'include("valkyr.urls")',
    ),
    "the Celery app": (
        "celery", None, "valkyr.E010", "valkyr.configure_celery(app)",
    ),
    "eager tasks": ("settings", "CELERY_TASK_ALWAYS_EAGER = True", "valkyr.E011", "Turn it off"),
    "an overwritten schedule": (
        "celery", LATE, "valkyr.E014", "app.conf.beat_schedule.update",
    ),
    "times without zones": ("settings", "USE_TZ = False", "doctor.settings", "USE_TZ = True"),
    "a serializer": ("settings", "CELERY_ACCEPT_CONTENT = ['pickle']", "valkyr.E012", "'json'"),
    "a visibility time-out": (
        "settings", "CELERY_BROKER_TRANSPORT_OPTIONS = {'visibility_timeout': 60}",
        "runners.E002", "Set it above",
    ),
    "SQLite": (
        "settings", "DATABASES['default']['ENGINE'] = 'django.db.backends.sqlite3'",
        "valkyr.E021", "Add one to DATABASES",
    ),
    "an empty database": (
        "settings", "DATABASES['default']['NAME'] = 'postgres'", "doctor.migrations", "migrate",
    ),
    "a clock": ("settings", AHEAD, "doctor.clock", "NTP"),
}  # fmt: skip
# None of these keeps doctor from finding the others: it runs once for all of them.
SIDE_BY_SIDE = (
    "routes", "eager tasks", "an overwritten schedule", "a serializer", "a visibility time-out",
)  # fmt: skip


@pytest.mark.parametrize(
    "mistakes",
    [SIDE_BY_SIDE, *((one,) for one in PLANTED if one not in SIDE_BY_SIDE)],
    ids=" and ".join,
)
def test_mistakes_in_files_are_found(mistakes: tuple[str, ...], patient: Patient) -> None:
    if "a clock" in mistakes:
        patient.execute(SKEWED)
    with ExitStack() as planted:
        for mistake in mistakes:
            planted.enter_context(_planted(patient, *PLANTED[mistake][:2]))
        told = patient.told()

    assert not told["ok"]
    found = {one["id"]: one["message"] + one["hint"] for one in _problems(told)}
    assert found.keys() == {PLANTED[mistake][2] for mistake in mistakes}
    for _, _, code, hint in (PLANTED[mistake] for mistake in mistakes):
        assert hint in found[code]


@contextmanager
def _planted(patient: Patient, name: str, planted: str | None) -> Iterator[None]:
    """Add lines to a file of the project, or remove the line that configures the Celery app;
    restore the file after the block.
    """
    file = patient.host.folder / "shop" / f"{name}.py"
    text = file.read_text()
    less = text.replace("valkyr.configure_celery(app)", "")
    file.write_text(less if planted is None else f"{text}\n{planted}\n")
    try:
        yield
    finally:
        file.write_text(text)


def test_the_sandbox_of_code_is_told_where_code_may_run(patient: Patient, tmp_path: Path) -> None:
    assert "sandbox" not in patient.told()["parts"]

    python = tmp_path / Path(sys.executable).name
    python.symlink_to(sys.executable)
    told = patient.told(VALKYR_PYTHON_CODE="1", PATH=str(tmp_path))

    assert told["ok"]
    [found] = [one for one in told["findings"] if one["part"] == "sandbox"]
    assert (found["id"], found["warning"]) == ("valkyr.I040", True)
    assert "there is no program bwrap on the PATH" in found["message"]


def _problems(told: dict[str, Any]) -> list[dict[str, Any]]:
    """Return doctor's findings without warnings, each of which occurs once."""
    found = [one for one in told["findings"] if not one["warning"]]
    assert len({one["id"] for one in found}) == len(found)
    return found


OUTSIDE = {
    "no database": ({"PGPORT": "1"}, "doctor.database"),
    "no broker": ({"CELERY_BROKER_URL": "redis://127.0.0.1:1/0"}, "valkyr.W030"),
}


@pytest.mark.parametrize("mistake", OUTSIDE)
def test_a_server_that_is_missing_is_found(mistake: str, patient: Patient) -> None:
    variables, code = OUTSIDE[mistake]

    assert patient.ids(**variables) == {code}


def test_advice_is_given_if_sessions_have_no_time_limits(patient: Patient) -> None:
    def advised() -> list[dict[str, Any]]:
        return [one for one in patient.told()["findings"] if one["id"] == "doctor.limits"]

    (found,) = advised()
    assert found["warning"]
    assert "no idle_in_transaction_session_timeout and no lock_timeout" in found["message"]
    role = _parameters(patient._named)["user"]
    for limit in ("idle_in_transaction_session_timeout = '5s'", "lock_timeout = '3s'"):
        assert f'ALTER ROLE "{role}" SET {limit};' in found["hint"]
    options = "{'options': '-c idle_in_transaction_session_timeout=5s'}"
    with _planted(patient, "settings", f"DATABASES['default']['OPTIONS'] = {options}"):
        (found,) = advised()
        assert "have no lock_timeout:" in found["message"]
    both = options.replace("=5s", "=5s -c lock_timeout=3s")
    with _planted(patient, "settings", f"DATABASES['default']['OPTIONS'] = {both}"):
        assert not advised()


def test_a_project_without_people_is_found(patient: Patient) -> None:
    patient.execute("UPDATE auth_user SET is_active = false")
    try:
        assert patient.ids() == {"doctor.people"}
    finally:
        patient.execute("UPDATE auth_user SET is_active = true")


def test_an_account_that_may_only_read_is_found(patient: Patient) -> None:
    patient.execute(READER)

    told = patient.told(PGUSER="doctor_reader", PGPASSWORD="reader")

    (found,) = (one for one in told["findings"] if not one["warning"])
    assert found["id"] == "doctor.grants"
    assert "DELETE, INSERT, UPDATE on dlq_" in found["message"]


def test_an_entry_of_beat_that_is_switched_off_is_found(patient: Patient) -> None:
    switch = "UPDATE django_celery_beat_periodictask SET enabled = {} WHERE name = 'valkyr: sweep'"
    patient.execute(switch.format("false"))
    try:
        assert patient.ids() == {"valkyr.W033"}
    finally:
        patient.execute(switch.format("true"))


def test_a_module_that_a_workflow_needs_is_missed(patient: Patient) -> None:
    done = patient.valkyr("publish", "--local", "workflows")
    assert done.returncode == 0, done.stderr
    change = "UPDATE executions_workflowversion SET source = replace(source::text, %s)::jsonb"
    patient.execute(change.replace("%s", "'data.template', 'shop.gone'"))
    try:
        found = patient.told()["findings"]
    finally:
        patient.execute(change.replace("%s", "'shop.gone', 'data.template'"))

    (one,) = (one for one in found if not one["warning"])
    assert one["id"] == "doctor.modules"
    assert "'hello' uses the module 'shop.gone'" in one["message"]


def test_what_has_ended_is_missed(patient: Patient) -> None:
    """Ended processes are reported as missing.

    This is the last test of the file: it ends the project's processes.
    """
    patient.host.stop()
    patient.execute("UPDATE dlq_beatpulse SET ticked_at = now() - interval '1 hour'")

    done = patient.valkyr("doctor")

    assert done.returncode == 1
    assert "No worker consumes the queue 'valkyr.io'" in done.stdout
    assert "celery -A shop worker" in done.stdout
    assert "Beat has not run since" in done.stdout
    assert patient.ids() == {"valkyr.W031", "valkyr.W032"}
