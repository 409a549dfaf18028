"""Run once after a restore from a backup, before web, workers and beat are started."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from executions.access.actor import Actor
from runners.recovery.after_restore import StillConnected, settle


class Command(BaseCommand):
    """Fences the work that was running at the backup, ends sessions, and reports what is lost."""

    help = (
        "Make a database that was restored from a backup safe to work with: workers of the time "
        "before can record nothing, and everybody signs in again. Run it once, with every process "
        "stopped; docs/how-to/backup.md has the whole procedure."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add `--force`, for a database to which processes are connected."""
        parser.add_argument(
            "--force",
            action="store_true",
            help="although processes are connected; steps that they run are done again",
        )

    def handle(self, *args: Any, **options: Any) -> str:
        """Run the command and return its findings as text."""
        try:
            done = settle(Actor.of_command(), force=options["force"])
        except StillConnected as error:
            raise CommandError(str(error)) from None
        newest = f"{done.newest:%Y-%m-%d %H:%M:%S} UTC" if done.newest else "no execution at all"
        return (
            f"{done.runs} runs under way are taken over by the next worker that claims them; "
            f"{done.sessions} sessions ended.\n"
            f"The newest execution here: {newest}. What was accepted later is lost: ask those who "
            "send triggers to send it again.\n"
            "API tokens that were revoked after the backup are valid again: revoke them now."
        )
