"""Check the store of large values, show its content, and delete values that no execution needs."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from executions import payload_store
from executions.errors import ValkyrError
from executions.payload_store import collecting, files

HELP = """
Large outputs of steps are in the store that VALKYR_PAYLOAD_STORE names. Beat deletes those that no
execution needs once a day; `collect` does it now.
"""
ACTIONS = {
    "show": "print the number of stored values, their size, and how many no execution needs",
    "check": "write, read and delete a small file",
    "collect": "delete values that no execution needs",
}


class Command(BaseCommand):
    """Print the result; on failure, print an error and exit with code 1."""

    requires_system_checks = []
    help = HELP

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the actions as subcommands; `collect` has options for a time limit and an age."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        for name, text in ACTIONS.items():
            action = actions.add_parser(name, help=text, description=text)
            if name == "collect":
                action.add_argument(
                    "--seconds",
                    type=float,
                    default=600.0,
                    help="stop after this number of seconds (600)",
                )
                action.add_argument(
                    "--grace-hours",
                    type=float,
                    help="minimum age since the last check (VALKYR_PAYLOAD_GRACE_HOURS)",
                )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the chosen action on the store. Raises CommandError if it fails."""
        if not payload_store.enabled():
            raise CommandError("VALKYR_PAYLOAD_STORE is not set; all values are in the database.")
        try:
            getattr(self, f"_{options['action']}")(options)
        except ValkyrError as error:
            raise CommandError(str(error)) from error

    def _show(self, options: dict[str, Any]) -> None:
        found = collecting.totals()
        self.stdout.write(
            f"{found.values:,} values, {found.size:,} bytes; no execution needs {found.idle:,} of "
            "them."
        )

    def _check(self, options: dict[str, Any]) -> None:
        files.probe()
        self.stdout.write("The store accepts, returns and deletes files.")

    def _collect(self, options: dict[str, Any]) -> None:
        hours = options["grace_hours"]
        grace = None if hours is None else timedelta(hours=hours)
        found = collecting.collect(options["seconds"], grace)
        more = " More are due: run it again." if found.more else ""
        self.stdout.write(
            f"Checked {found.checked:,} values, deleted {found.deleted:,} ({found.size:,} bytes)."
            f"{more}"
        )
