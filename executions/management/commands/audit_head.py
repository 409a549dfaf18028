"""Print the head of the audit trail's hash chain, for storage where no database owner can write."""

from datetime import UTC
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.dateparse import parse_datetime

from executions.audit import seals
from executions.models import AuditSeal


class Command(BaseCommand):
    """Print a seal as `number:digest`: the newest seal, or the first seal at or after a time."""

    help = "Print the newest seal of the audit trail as number:digest."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the option that selects the seal."""
        parser.add_argument(
            "--at",
            metavar="TIME",
            help="print the first seal made at or after this time, such as 2026-11-01T06:00:00Z",
        )

    def handle(self, *args: Any, **options: Any) -> str:
        """Return the selected seal as text. Raises CommandError if there is none."""
        if options["at"] is None:
            head = seals.head()
            if head is None:
                raise CommandError(
                    "No row of the audit trail is sealed yet. A control worker seals new rows "
                    "every thirty seconds."
                )
            return str(head)
        try:
            at = parse_datetime(options["at"])
        except ValueError:
            at = None
        if at is None:
            raise CommandError(
                f"--at is {options['at']!r}; expected a time such as 2026-11-01T06:00:00Z."
            )
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        seal = AuditSeal.objects.filter(sealed_at__gte=at).order_by("number").first()
        if seal is None:
            raise CommandError(f"No seal was made at or after {at.isoformat()}.")
        return str(seal)
