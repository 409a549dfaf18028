"""`manage.py valkyr_sql "SELECT …"`: read the SQL views from a shell."""

import csv
import json
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import CommandError, CommandParser

from executions.public.commands import CommandWithExamples, add_query_arguments, result_lines
from executions.public.errors import ValkyrError
from executions.public.models import Workspace
from valkyr_plugins.sql_views import installing
from valkyr_plugins.sql_views.asking import Answered, SqlQuestion, ask
from valkyr_plugins.sql_views.catalogue import SqlView, described, views

EXAMPLES = """
examples:
  manage.py valkyr_sql "SELECT state, count(*) FROM executions
                         WHERE created_at >= now() - interval '1 day' GROUP BY state"
  manage.py valkyr_sql --workspace shop --format csv "SELECT * FROM dead_letters
                         WHERE resolution = 'PENDING' AND quarantined_at >= now() - interval '7 d'"
  manage.py valkyr_sql --archive "SELECT state, count(*) FROM executions GROUP BY ALL"
  manage.py valkyr_sql --list

The statement runs in a read-only transaction, as a role that can read the views and nothing else;
on the replica if there is one. docs/how-to/sql-views.md describes access for BI tools.
"""


class Command(CommandWithExamples):
    """Runs one statement over the views or the archive, and prints its rows."""

    help = "Run one SELECT over the SQL views, with a time-out, and print its rows."
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the statement, and the options for its limits, its source and the output."""
        parser.add_argument("statement", nargs="?", default="", help="one SELECT, in quotes")
        parser.add_argument("--workspace", metavar="SLUG", help="one workspace (default: all)")
        add_query_arguments(parser)
        parser.add_argument(
            "--primary", action="store_true", help="read the primary, also if there is a replica"
        )
        parser.add_argument(
            "--archive",
            action="store_true",
            help="read the archived executions instead of the views (plugin `archive`)",
        )
        parser.add_argument(
            "--list", action="store_true", help="list the views and columns; run nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the statement over the views or the archive, or list the views."""
        if options["list"]:
            self._list(options["format"])
            return
        if options["archive"]:
            self._ask_archive(options)
            return
        try:
            if not installing.is_installed():
                raise CommandError(
                    "The views do not exist yet. Run `manage.py valkyr_views install` once."
                )
            self._show(ask(_asked(options)), options["format"])
        except ValkyrError as error:
            raise CommandError(error.message) from error
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error

    def _ask_archive(self, options: dict[str, Any]) -> None:
        if not apps.is_installed("valkyr_plugins.archive"):
            raise CommandError("The plugin archive is not installed, so there is no archive.")
        chosen = {name: options[name] for name in ("workspace", "format", "limit", "timeout")}
        streams = {"stdout": self.stdout, "stderr": self.stderr}
        call_command("valkyr_archive", "sql", options["statement"], **chosen, **streams)

    def _list(self, form: str) -> None:
        if form == "json":
            self.stdout.write(json.dumps(described(views()), indent=2))
        elif form == "csv":
            writer = csv.writer(self.stdout)
            writer.writerow(["view", "column", "about"])
            writer.writerows((v.name, c.name, c.about) for v in views() for c in v.columns)
        else:
            for view in views():
                for line in _of_view(view):
                    self.stdout.write(line)

    def _show(self, found: Answered, form: str) -> None:
        for line in result_lines(found.columns, found.rows, form):
            self.stdout.write(line)
        place = "the replica, which can lag" if found.replica else "the primary"
        self.stderr.write(f"{len(found.rows):,} rows from {place}.")
        if found.more:
            self.stderr.write("There are more rows: set a larger --limit to see them.")


def _asked(options: dict[str, Any]) -> SqlQuestion:
    return SqlQuestion(
        statement=options["statement"],
        workspaces=_workspaces(options["workspace"]),
        limit=options["limit"],
        seconds=options["timeout"],
        primary=options["primary"],
    )


def _workspaces(slug: str | None) -> list[UUID]:
    """Return the ID of the workspace with the slug, or all IDs. Raises CommandError."""
    rows = Workspace.objects.filter(slug=slug) if slug else Workspace.objects.all()
    found = list(rows.values_list("pk", flat=True))
    if slug and not found:
        raise CommandError(f"There is no workspace {slug!r}.")
    return found


def _of_view(view: SqlView) -> Iterable[str]:
    yield f"{view.name}: {view.about}"
    width = max(len(one.name) for one in view.columns)
    for one in view.columns:
        yield f"  {one.name.ljust(width)}  {one.about}"
    yield ""
