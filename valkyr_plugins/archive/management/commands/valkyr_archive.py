"""`manage.py valkyr_archive`: write, check and query the archive; restore and erase executions."""

import json
from typing import Any
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError, CommandParser
from django.db.models import Count, Sum

from dlq.public.retention import as_set, horizon, older_than
from executions.public.access import Actor, record
from executions.public.commands import AnyValueEncoder, CommandWithExamples
from executions.public.database import database_now
from executions.public.errors import ValkyrError
from valkyr_plugins.archive import archiving, columns, erasing, reading, restoring, storage
from valkyr_plugins.archive.conf import enabled
from valkyr_plugins.archive.models import ArchivedExecution, ArchiveFile
from valkyr_plugins.archive.sql_command import add_sql_arguments, answer_sql

EXAMPLES = """
examples:
  manage.py valkyr_archive check
  manage.py valkyr_archive write
  manage.py valkyr_archive show
  manage.py valkyr_archive open 0193f6c1-…
  manage.py valkyr_archive restore 0193f6c1-… --reason "complaint 4711"
  manage.py valkyr_archive verify
  manage.py valkyr_archive sql "SELECT state, count(*) FROM executions GROUP BY ALL"
  manage.py valkyr_archive erase --execution 0193f6c1-… --execution 0193f6c2-…
  manage.py valkyr_archive erase --workspace shop --before 2025-01-01

docs/how-to/archive.md describes the files, and what to do if some are lost.
"""


class Command(CommandWithExamples):
    """Writes, checks and queries the archive; opens, restores and erases archived executions."""

    help = "Archive finished executions; open, restore and erase archived ones."
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments of the actions."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        actions.add_parser("check", help="write, read and delete a small file")
        write = actions.add_parser("write", help="archive what retention may delete")
        write.add_argument(
            "--older-than-days",
            type=float,
            metavar="N",
            help="archive executions that ended this long ago, instead of after the settings' "
            "periods",
        )
        actions.add_parser("show", help="count the files and executions")
        actions.add_parser("verify", help="read all files, and compare them with their digests")
        opened = actions.add_parser("open", help="print an archived execution as JSON")
        opened.add_argument("execution", type=UUID)
        opened.add_argument(
            "--sealed", action="store_true", help="print sealed values as they are stored"
        )
        restore = actions.add_parser("restore", help="put an archived execution back")
        restore.add_argument("execution", type=UUID)
        restore.add_argument("--reason", default="", help="the reason, for the audit trail")
        sql = actions.add_parser("sql", help="run one SELECT over the archived executions")
        add_sql_arguments(sql)
        erase = actions.add_parser("erase", help="erase executions from the archive")
        erase.add_argument("--execution", type=UUID, action="append", default=[], metavar="ID")
        erase.add_argument("--workspace", metavar="SLUG")
        erase.add_argument("--before", metavar="DAY", help="only files of earlier days")
        erase.add_argument("--reason", default="", help="the reason, for the audit trail")

    def handle(self, *args: Any, **options: Any) -> None:
        """Perform the requested action."""
        if not enabled():
            raise CommandError("VALKYR_ARCHIVE is not set, so there is no archive.")
        try:
            getattr(self, f"_{options['action']}")(options)
        except ValkyrError as error:
            raise CommandError(error.message) from error
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error

    def _check(self, options: dict[str, Any]) -> None:
        storage.probe()
        self.stdout.write("The storage of the archive can be written, read and deleted from.")

    def _write(self, options: dict[str, Any]) -> None:
        days = options["older_than_days"]
        wanted = older_than(days, database_now()) if days is not None else None
        files = executions = 0
        more = True
        while more:
            done = archiving.turn(wanted, seconds=float(10**9))
            files, executions = files + done.files, executions + done.executions
            more = done.more
        if not executions and (ended := horizon(wanted or as_set(database_now()))) is not None:
            self.stdout.write(
                f"No execution that ended before {ended:%Y-%m-%d %H:%M} UTC needs a copy; later "
                "ones are not due."
            )
            return
        self.stdout.write(f"{executions:,} executions in {files:,} files.")

    def _show(self, options: dict[str, Any]) -> None:
        for row in (
            ArchiveFile.objects.order_by("state")
            .values("state")
            .annotate(files=Count("id"), count=Sum("executions"), size=Sum("size"))
        ):
            self.stdout.write(
                f"{row['state']:<9}{row['files']:>8,} files{row['count'] or 0:>14,} executions"
                f"{(row['size'] or 0) / 1e6:>12,.1f} MB"
            )
        self.stdout.write(f"{ArchivedExecution.objects.count():,} executions are in the index.")

    def _verify(self, options: dict[str, Any]) -> None:
        wrong = list(erasing.broken())
        for line in wrong:
            self.stderr.write(line)
        if wrong:
            raise CommandError(f"{len(wrong):,} files are broken or missing.")
        self.stdout.write("All files are as they were written.")

    def _open(self, options: dict[str, Any]) -> None:
        found = reading.load(options["execution"])
        record(
            Actor.of_command(),
            "archive.open",
            workspace_id=found.row["workspace_id"],
            object_type="WorkflowExecution",
            object_id=options["execution"],
        )
        shown = found.row if options["sealed"] else _readable(found)
        self.stdout.write(json.dumps(shown, cls=AnyValueEncoder, indent=2, ensure_ascii=False))

    def _restore(self, options: dict[str, Any]) -> None:
        made = restoring.restore(
            options["execution"], actor=Actor.of_command(), reason=options["reason"]
        )
        self.stdout.write(f"Execution {made.pk} is in the database again ({made.state}).")

    def _sql(self, options: dict[str, Any]) -> None:
        answer_sql(self, options)

    def _erase(self, options: dict[str, Any]) -> None:
        actor, reason = Actor.of_command(), options["reason"]
        if options["execution"]:
            done = erasing.erase(options["execution"], actor=actor, reason=reason)
        elif options["workspace"]:
            done = erasing.erase_workspace(
                options["workspace"], options["before"], actor=actor, reason=reason
            )
        else:
            raise CommandError("Give --execution, or --workspace.")
        self.stdout.write(f"{done:,} executions were erased from the archive.")


def _readable(found: reading.ArchivedRecord) -> dict[str, Any]:
    return columns.readable(found.execution) | {
        "archived_at": found.file.stored_at,
        "file": found.file.name,
        "runs": [columns.readable(one) for one in found.runs],
        "dead_letters": [columns.readable(one) for one in found.dead_letters],
    }
