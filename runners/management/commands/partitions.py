"""Partition the runs' table by time, convert it back to one table, or show the partitions."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.template.defaultfilters import filesizeformat

from executions.access.actor import Actor, record
from executions.errors import ValkyrError
from executions.management.examples import CommandWithExamples
from runners.partitions import orphans, switching, upkeep
from runners.partitions.layout import RunPartition, layout, table
from runners.partitions.short_locks import ATTEMPTS

EXAMPLES = """
examples:
  manage.py partitions status --check
  manage.py partitions on
  manage.py partitions on --days 7
  manage.py partitions off --yes

`on` copies no row and runs beside workers, which wait at most half a second at a time. `off` copies
all rows except those of the largest partition, and workers wait until it is done. Both continue
where an interrupted call stopped. See docs/how-to/partitions.md.

exit codes: 0 done, 1 refused or busy; `status --check`: 1 if something needs attention
"""
MOST_COPIED = 100_000  # maximum rows that `off` copies without --yes


class Command(CommandWithExamples):
    """Convert the table, or print one line for each partition."""

    help = "Partition the runs' table by time, so that retention drops a partition at once."
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the action and its options."""
        parser.add_argument("action", choices=("on", "off", "status"))
        parser.add_argument(
            "--days",
            type=int,
            default=1,
            choices=(1, 7),
            help="on: days of executions in a partition (1)",
        )
        parser.add_argument(
            "--yes", action="store_true", help="off: copy any number of rows while workers wait"
        )
        parser.add_argument(
            "--check",
            action="store_true",
            help="status: look for orphans too, and fail if something needs attention",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the action. Raises CommandError if it is rejected or `--check` finds a problem."""
        try:
            getattr(self, f"_{options['action']}")(options)
        except ValkyrError as error:
            raise CommandError(error.message) from error

    def _on(self, options: dict[str, Any]) -> None:
        if switching.turn_on(options["days"]):
            _note("on", days=options["days"])
        else:
            self.stdout.write(f"{table()} is partitioned already.")
        upkeep.add_ahead(attempts=ATTEMPTS)
        self._status(options | {"check": False})

    def _off(self, options: dict[str, Any]) -> None:
        copied = switching.rows_to_copy()
        if copied > MOST_COPIED and not options["yes"]:
            raise CommandError(
                f"About {copied:,} rows will be copied, and workers wait meanwhile. Choose a quiet "
                "time, and repeat the command with --yes."
            )
        if switching.turn_off():
            _note("off")
            self.stdout.write(f"{table()} is one table again.")
        else:
            self.stdout.write(f"{table()} is not partitioned.")

    def _status(self, options: dict[str, Any]) -> None:
        now = layout()
        if not now.partitioned:
            self.stdout.write(f"{table()} is not partitioned.")
        for one in now.partitions:
            self.stdout.write(_line(one))
        problems = [*upkeep.problems(now), *(_orphans() if options["check"] else ())]
        for problem in problems:
            self.stdout.write(f"! {problem}")
        if problems and options["check"]:
            raise CommandError(f"{len(problems)} findings need attention.")


def _note(action: str, **details: Any) -> None:
    record(
        Actor.of_command(),
        f"partitions.{action}",
        workspace_id=None,
        object_type="Partitions",
        object_id=table(),
        details=details,
    )


def _line(one: RunPartition) -> str:
    begins = f"{one.begins:%Y-%m-%d}" if one.begins else "the first"
    ends = f"{one.ends:%Y-%m-%d}" if one.ends else ""
    span = "all others" if one.default else f"{begins} to {ends}"
    size = filesizeformat(one.bytes).replace("\xa0", " ")
    return f"{one.name:<32}{span:<28}{one.rows:>14,} rows  {size:>10}"


def _orphans() -> list[str]:
    return [
        f"{number:,} rows of {place} refer to a row that does not exist."
        for place, number in orphans.count().items()
        if number
    ]
