"""Export the audit trail to a file or to standard output, as JSON lines."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TextIO

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.dateparse import parse_date, parse_datetime

from executions.access.actor import Actor
from executions.audit import export
from executions.audit.trail import narrowed
from executions.models import Activity, Workspace


class Command(BaseCommand):
    """Write every selected row, oldest first.

    The export itself adds a row to the audit trail.
    """

    help = "Write the audit trail as JSON lines, oldest first."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the options for the rows and the output."""
        parser.add_argument(
            "--since", help="only rows from this time on: a date such as 2026-11-01, or a time"
        )
        parser.add_argument("--until", help="only rows before this time")
        parser.add_argument("--workspace", help="only rows of this workspace (slug)")
        parser.add_argument("--output", help="a new file; default: standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the selected rows to the output."""
        wanted: dict[str, Any] = {
            "createdAfter": _time(options["since"], "--since"),
            "createdBefore": _time(options["until"], "--until"),
            "workspaceId": _workspace(options["workspace"]),
        }
        rows = narrowed(Activity.objects.all(), wanted)
        place = wanted["workspaceId"]
        found = export.begin(rows, [place] if place else None, wanted, Actor.of_command())
        with _opened(options["output"], self.stdout) as out:
            for part in export.lines(found):
                out.write(part.decode())


def _time(text: str | None, option: str) -> datetime | None:
    if text is None:
        return None
    try:
        at = parse_datetime(text)
        day = None if at else parse_date(text)
    except ValueError:
        at = day = None
    if at is None and day is None:
        raise CommandError(
            f"{option} is {text!r}; expected a time such as 2026-11-01 or 2026-11-01T06:00:00Z."
        )
    found = at or datetime(day.year, day.month, day.day)  # type: ignore[union-attr] # noqa: DTZ001
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _workspace(slug: str | None) -> Any:
    if slug is None:
        return None
    pk = Workspace.objects.filter(slug=slug).values_list("pk", flat=True).first()
    if pk is None:
        raise CommandError(f"There is no workspace {slug!r}.")
    return pk


@contextmanager
def _opened(path: str | None, stdout: Any) -> Iterator[TextIO]:
    """Open a new file that only its owner can access, or yield `stdout` if `path` is None.

    Raises CommandError if the file cannot be created.
    """
    if path is None:
        yield stdout
        return
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise CommandError(
            f"{path} cannot be created: {error.strerror}. Name a new file."
        ) from None
    with os.fdopen(number, "w", encoding="utf-8") as file:
        yield file
