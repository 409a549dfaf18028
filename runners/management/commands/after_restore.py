"""The command to run once after a restore from a backup, before web, workers and beat start."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from executions.access.actor import Actor
from runners.recovery.after_restore import StillConnected, settle


class Command(BaseCommand):
    """Fence the work that ran at the time of the backup, end sessions, and report lost data."""

    help = (
        "Make a restored database safe to use: results of earlier workers are rejected, and "
        "all sessions end. Run it once, while every process is stopped; docs/how-to/backup.md "
        "has the whole procedure."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add `--force`, which prepares a database even if processes are connected to it."""
        parser.add_argument(
            "--force",
            action="store_true",
            help=(
                "continue although processes are connected; the steps that they run will run again"
            ),
        )

    def handle(self, *args: Any, **options: Any) -> str:
        """Prepare the database; return a report. Raises CommandError if processes are connected."""
        try:
            done = settle(Actor.of_command(), force=options["force"])
        except StillConnected as error:
            raise CommandError(str(error)) from None
        newest = f"{done.newest:%Y-%m-%d %H:%M:%S} UTC" if done.newest else "no execution at all"
        return (
            f"{done.runs} live runs will be taken over by workers; {done.sessions} sessions "
            f"ended.\nThe newest execution here: {newest}. Later executions are lost: "
            "ask the callers to send their requests again.\nAPI tokens that were revoked "
            "after the backup are valid again: revoke them now."
        )
