"""Redrive dead letters from a shell, as in the admin and through the API."""

import json
import time
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser
from django.db.models import QuerySet

from dlq.public.models import DeadLetterEntry
from dlq.public.selection import EntryFilters, chosen
from executions.public.access import Actor
from executions.public.api import flat
from executions.public.commands import CommandWithExamples
from executions.public.database import transaction
from executions.public.errors import ValkyrError, WithProblems
from valkyr_plugins.redrive import lifecycle
from valkyr_plugins.redrive.models import FINAL, Redrive, RedriveScope, RedriveState
from valkyr_plugins.redrive.options import RedriveOptions
from valkyr_plugins.redrive.preview import Preview, preview_of
from valkyr_plugins.redrive.progress import progress

LOOK_SECONDS = 1.0
# Number of checks without progress after which the command reports what blocks the redrive.
QUIET_LOOKS = 15
# Maximum number of entries with invalid inputs that a preview lists.
LISTED = 10
EXAMPLES = """
examples:
  manage.py redrive --group 0192…  --dry-run
  manage.py redrive --group 0192…  --rate 50 --canary 20 --stop-above 20 --reason "v7 is out" --wait
  manage.py redrive --filter '{"module": "http.request", "httpStatus": 503}' --max-in-flight 100
  manage.py redrive --filter '{"inputs": [{"path": "order.country", "op": "eq", "value": "DE"}]}'
  manage.py redrive --ids 0192… 0193… --overrides '{"url": "https://new.example.com"}'

A redrive contains the open dead letters that match when it is created. A worker of the queue
control sends them at a lower priority than other work, even after this command has ended. Pause,
resume and abort the redrive in the admin or with the API.
"""


class Command(CommandWithExamples):
    """Creates and starts a redrive, or with --dry-run previews it."""

    help = "Requeue dead letters at a set rate, as a durable redrive."
    examples = EXAMPLES

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options for the choice, the scope and the pace."""
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument(
            "--group", type=_uuid, metavar="ID", help=("all dead letters of this failure group")
        )
        which.add_argument("--ids", type=_uuid, nargs="+", metavar="ID", help="these dead letters")
        which.add_argument(
            "--filter", metavar="JSON", help=("filters of GET /v1/DeadLetterQueue, as JSON")
        )
        parser.add_argument(
            "--scope",
            choices=RedriveScope.values,
            default=RedriveScope.STEP.value,
            help="STEP: the failed step, in its execution (default); FROM: a new execution from "
            "--from-step on; EXECUTION: the whole execution again",
        )
        parser.add_argument("--from-step", default="", metavar="PATH", help="such as charge.main")
        parser.add_argument("--to-version", default="pinned", help="pinned, latest or a number")
        parser.add_argument("--overrides", metavar="JSON", help="a merge patch of the inputs")
        parser.add_argument(
            "--expression", default="", help="an expression that returns each entry's merge patch"
        )
        parser.add_argument("--rate", type=float, help="maximum entries per second")
        parser.add_argument(
            "--max-in-flight", type=int, metavar="N", help=("maximum entries in progress")
        )
        parser.add_argument(
            "--canary", type=int, default=0, metavar="N", help="entries to send first"
        )
        parser.add_argument(
            "--stop-above",
            type=float,
            metavar="PERCENT",
            help=("stop if more than this percentage of the last 100 fails again"),
        )
        parser.add_argument("--reason", default="", help="the reason; stored with each entry")
        parser.add_argument("--dry-run", action="store_true", help="preview only; requeue nothing")
        parser.add_argument(
            "--wait", action="store_true", help=("wait until it ends and print its progress")
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Create and start the redrive or, with `--dry-run`, preview it. Raises CommandError."""
        try:
            if options["dry_run"]:
                self._look(options)
            else:
                self._run(options)
        except WithProblems as error:
            problems = "".join(f"\n  {p.path}: {p.message}" for p in error.problems)
            raise CommandError(f"{error.message}{problems}") from error
        except ValkyrError as error:
            raise CommandError(error.message) from error

    def _look(self, options: dict[str, Any]) -> None:
        rows, wish = _wanted(options)
        redrive, entries = lifecycle.unsaved(rows, wish, actor=Actor.of_command())
        for line in _of_preview(preview_of(redrive, entries)):
            self.stdout.write(line)

    def _run(self, options: dict[str, Any]) -> None:
        actor = Actor.of_command()
        with transaction.atomic():
            redrive = lifecycle.start(_made(options).pk, actor=actor)
        self.stdout.write(f"Redrive {redrive.pk}: {redrive.total:,} entries")
        if redrive.truncated:
            self.stdout.write("There were more dead letters; these are the oldest.")
        if not options["wait"]:
            return
        for line in self._followed(redrive):
            self.stdout.write(line)
        if redrive.state != RedriveState.DONE or redrive.failed_again:
            raise CommandError(_ending(redrive))

    def _followed(self, redrive: Redrive) -> Iterator[str]:
        """Yield a line for each change until the end or a stop, and a hint if nothing changes."""
        last, quiet = "", 0
        while True:
            redrive.refresh_from_db()
            line = _of_progress(redrive)
            over = redrive.state in FINAL | {RedriveState.STOPPED}
            if line != last:
                last, quiet = line, 0
                yield line
            elif not over:
                quiet += 1
                if quiet == QUIET_LOOKS:
                    yield (
                        "No progress. Check that it is not paused, and that a worker serves the "
                        "queue control."
                    )
            if over:
                return
            time.sleep(LOOK_SECONDS)


def _made(options: dict[str, Any]) -> Redrive:
    rows, wish = _wanted(options)
    return lifecycle.make(rows, wish, actor=Actor.of_command())


def _wanted(options: dict[str, Any]) -> tuple[QuerySet[DeadLetterEntry], RedriveOptions]:
    rows, selection = _chosen(options)
    wish = RedriveOptions(
        selection=selection,
        group_id=options["group"],
        scope=options["scope"],
        from_step=options["from_step"],
        version=options["to_version"],
        overrides=_json(options["overrides"], "--overrides"),
        expression=options["expression"],
        rate=options["rate"],
        max_in_flight=options["max_in_flight"],
        canary=options["canary"],
        stop_above=options["stop_above"],
        reason=options["reason"],
    )
    return rows, wish


def _chosen(options: dict[str, Any]) -> tuple[QuerySet[DeadLetterEntry], dict[str, Any]]:
    """Return the chosen rows, and the choice to store. Raises CommandError for a bad filter."""
    rows = DeadLetterEntry.objects.all()
    if options["group"]:
        return rows.filter(group_id=options["group"]), {"groupId": str(options["group"])}
    if options["ids"]:
        return rows.filter(pk__in=options["ids"]), {"ids": [str(pk) for pk in options["ids"]]}
    asked = _json(options["filter"], "--filter")
    form = EntryFilters(data=asked)
    if not form.is_valid():
        found = "; ".join(f"{p.path}: {p.message}" for p in flat(_details(form)))
        raise CommandError(f"--filter is not valid. {found}")
    return chosen(rows, form.validated_data), {"filter": asked}


def _details(form: EntryFilters) -> Any:
    from rest_framework.exceptions import ValidationError

    return ValidationError(form.errors).get_full_details()


def _json(text: str | None, option: str) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        raise CommandError(f"{option} is not valid JSON: {error}.") from None


def _uuid(text: str) -> UUID:
    return UUID(text)


def _ending(redrive: Redrive) -> str:
    if redrive.state == RedriveState.STOPPED:
        return f"The redrive stopped automatically. {redrive.stop_reason}"
    if redrive.state == RedriveState.ABORTED:
        return "The redrive was aborted."
    return f"{redrive.failed_again:,} of {redrive.total:,} failed again."


def _of_preview(found: Preview) -> Iterator[str]:
    """Yield the lines of the preview, without inputs, because terminals keep their output."""
    yield f"{found.runs:,} would run, in about {found.seconds:,.0f} s."
    if found.truncated:
        yield "There are more dead letters; these are the oldest."
    for skipped in found.skipped:
        yield f"  {skipped.count:,} would be skipped: {skipped.reason}"
    for effect in found.effects:
        yield (
            f"  {effect.step} ({effect.module}, {effect.effect}) would happen again: "
            f"{effect.count:,}"
        )
    for change in found.definition_changes:
        changes = " ".join(change.changes) or "No task differs."
        yield f"  version {change.before} -> {change.after}: {changes}"
    if found.rejected:
        yield f"  of {found.checked:,} tried, inputs of {len(found.rejected):,} would not fit:"
    for rejected in found.rejected[:LISTED]:
        yield f"    {rejected.entry_id}: {'; '.join(rejected.problems)}"


def _of_progress(redrive: Redrive) -> str:
    """Return the redrive's progress as one line."""
    now = progress(redrive)
    parts = [
        f"{now.queued:,} queued",
        f"{now.running:,} running",
        f"{now.succeeded:,} succeeded",
        f"{now.failed_again:,} failed again",
        f"{now.skipped:,} skipped",
    ]
    if now.aborted:
        parts.append(f"{now.aborted:,} not sent")
    return f"{redrive.state}: {', '.join(parts)}"
