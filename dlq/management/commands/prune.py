"""Delete expired rows now, or preview the deletion."""

import signal
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError, CommandParser
from django.template.defaultfilters import filesizeformat

from dlq.retention import pruning
from dlq.retention.batches import PruningPace, PruningTally
from dlq.retention.by_age import weigh
from dlq.retention.periods import RetentionPeriods, as_set, older_than
from dlq.retention.terms import RetentionScope
from executions.access.actor import Actor
from executions.database.clock import database_now
from executions.management.examples import CommandWithExamples
from executions.models import Workflow, Workspace
from executions.states import FINAL

# The results of pruning, or of its preview, in words.


def of_tally(tally: PruningTally, *, bytes_: int | None = None) -> Iterator[str]:
    """Yield a line about the deleted rows, and a line for each reason why rows are kept."""
    parts = "".join(f", {number:,} {part}" for part, number in tally.parts.items() if number)
    span = f", from {tally.first:%Y-%m-%d} to {tally.last:%Y-%m-%d}" if _spans(tally) else ""
    size = f", about {filesizeformat(bytes_)}".replace("\xa0", " ") if bytes_ else ""
    more = " (time limit reached: rows remain)" if tally.more else ""
    yield f"{tally.kind:<14}{tally.rows:>12,}{parts}{span}{size}{more}"
    for reason, number in tally.kept.most_common():
        yield f"{'':<14}{number:>12,} stay: {reason}"


def _spans(tally: PruningTally) -> bool:
    return tally.first is not None and tally.last is not None


UNITS = {"h": 1 / 24, "d": 1.0, "w": 7.0}
MORE = 3  # exit code: stopped before the end
FOR_EVER = float(10**9)  # seconds
EXAMPLES = """
examples:
  manage.py prune --dry-run
  manage.py prune --older-than 30d --state SUCCESS --workspace finance --dry-run
  manage.py prune --what executions,logs --max-seconds 600

Without --older-than, the settings decide how long rows are kept (VALKYR_KEEP_* in
docs/reference/configuration.md).
Open and pinned dead letters are always kept, with their executions and with rows that belong to
running work. Ctrl-C or SIGTERM ends the command after the current transaction; the next run
continues.

exit codes: 0 all done, 1 refused, 3 stopped by Ctrl-C or --max-seconds with more to do
"""


class Command(CommandWithExamples):
    """Delete expired rows or preview the deletion; report deleted and kept rows of each kind."""

    help = "Delete rows past their retention: executions, dead letters and related rows."
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options that select rows and set the pace."""
        names = ", ".join(kind.replace(" ", "-") for kind in pruning.kinds())
        parser.add_argument("--dry-run", action="store_true", help="preview only; delete nothing")
        parser.add_argument(
            "--older-than",
            type=_days,
            metavar="30d",
            help=("age limit instead of the settings'; in h, d or w"),
        )
        parser.add_argument(
            "--state", type=_states, metavar="SUCCESS", default=frozenset(),
            help="final states of executions, separated by commas",
        )  # fmt: skip
        parser.add_argument("--workspace", metavar="SLUG", help="only in this workspace")
        parser.add_argument(
            "--workflow", metavar="SLUG", help=("only of this workflow; requires --workspace")
        )
        parser.add_argument(
            "--what", type=_kinds, metavar="KINDS", default=pruning.kinds(),
            help=f"kinds of rows, separated by commas: {names}; default: all",
        )  # fmt: skip
        parser.add_argument(
            "--batch", type=_number, default=500, metavar="N", help="rows per transaction (500)"
        )
        parser.add_argument(
            "--max-seconds",
            type=_number,
            default=FOR_EVER,
            metavar="S",
            help="stop after this number of seconds",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete or preview expired rows. Raises CommandError for bad input or an early stop."""
        try:
            wanted = _wanted(options)
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        with _stop_asked() as stop:
            pace = PruningPace.for_seconds(
                options["max_seconds"],
                batch=options["batch"],
                rest=0.0 if options["dry_run"] else 1.0,
            )
            pace.stopped = stop.is_set
            tallies = self._go(options, wanted, pace)
        if any(tally.more for tally in tallies):
            raise CommandError(
                "Stopped before the end. Run the command again to continue.", returncode=MORE
            )

    def _go(
        self, options: dict[str, Any], wanted: RetentionPeriods, pace: PruningPace
    ) -> list[PruningTally]:
        dry = options["dry_run"]
        self.stdout.write("would delete" if dry else "deleted")
        made = (pruning.look if dry else pruning.prune)(options["what"], wanted, pace)
        done: list[PruningTally] = []
        try:
            for tally in made:
                done.append(tally)
                for line in of_tally(tally, bytes_=weigh(tally) if dry else None):
                    self.stdout.write(line)
        finally:
            if not dry:
                pruning.note(done, Actor.of_command(), **_asked(options))
        return done


def _wanted(options: dict[str, Any]) -> RetentionPeriods:
    scope = RetentionScope(
        *_place(options["workspace"], options["workflow"]), states=options["state"]
    )
    if options["older_than"] is None:
        return as_set(database_now(), scope)
    return older_than(options["older_than"], database_now(), scope)


def _place(workspace: str | None, workflow: str | None) -> tuple[Any, Any]:
    if workspace is None:
        if workflow is not None:
            raise CommandError(
                "--workflow needs --workspace: a slug is unique only within a workspace."
            )
        return None, None
    space = Workspace.objects.filter(slug=workspace).first()
    if space is None:
        raise CommandError(f"There is no workspace {workspace!r}.")
    if workflow is None:
        return space.pk, None
    # Of several workflows with this name, the one that is not archived.
    flows = Workflow.objects.filter(workspace=space, slug=workflow)
    flow = flows.order_by("-archived_at").first() if flows.exists() else None
    if flow is None:
        raise CommandError(f"Workspace {workspace!r} has no workflow {workflow!r}.")
    return space.pk, flow.pk


def _asked(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that the user gave, for the audit trail."""
    said = {name: options[name] for name in ("workspace", "workflow") if options[name]}
    if options["older_than"] is not None:
        said["olderThanDays"] = options["older_than"]
    if options["state"]:
        said["states"] = sorted(options["state"])
    return said


@contextmanager
def _stop_asked() -> Iterator[Event]:
    """Yield an event that SIGINT or SIGTERM sets; restore the previous handlers afterwards."""
    stop = Event()
    before = {
        number: signal.signal(number, lambda *_: stop.set())
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _days(text: str) -> float:
    unit, number = text[-1:], text[:-1]
    if unit not in UNITS or not number.replace(".", "", 1).isdigit() or float(number) <= 0:
        raise ArgumentTypeError(f"{text!r} is not an age; expected a value such as 12h, 30d or 8w")
    return float(number) * UNITS[unit]


def _states(text: str) -> frozenset[str]:
    found = frozenset(word.strip().upper() for word in text.split(","))
    if not found <= FINAL:
        raise ArgumentTypeError(f"{text!r}: expected some of {', '.join(sorted(FINAL))}")
    return found


def _kinds(text: str) -> tuple[str, ...]:
    found = tuple(word.strip().replace("-", " ") for word in text.split(","))
    if unknown := sorted(set(found) - set(pruning.kinds())):
        known = ", ".join(kind.replace(" ", "-") for kind in pruning.kinds())
        raise ArgumentTypeError(f"{unknown[0]!r} cannot be pruned; expected some of {known}")
    return found


def _number(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r}: expected a whole number of at least 1")
    return int(text)
