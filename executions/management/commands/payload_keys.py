"""Seal the payloads of a workspace, rotate its key, and open the payloads again."""

import getpass
import time
from typing import Any
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from executions.access.actor import Actor
from executions.errors import ValkyrError
from executions.models import PayloadKey, Workspace
from executions.payload_sealing import switch
from executions.payload_sealing.walk import WalkResult

HELP = """
Seal the inputs, outputs, variables, errors and logs of a workspace's executions. `on`, `off` and
`rotate` decide how payloads are written from then on; `reseal` brings the stored ones into the same
state. It may be stopped and run again at any time. Nothing has to stop for any of these.
"""
TOLD_SECONDS = 2
ACTIONS = {
    "show": "list the workspaces with payload keys, and which key seals",
    "on": "seal payloads from now on",
    "off": "store payloads in the clear from now on",
    "rotate": "seal with a new key from now on",
    "reseal": "seal or open the stored payloads, as the workspace does now",
    "retire": "remove keys that seal no payload any more",
}


class Command(BaseCommand):
    """Print the result; on failure, print an error and exit with code 1."""

    requires_system_checks = []
    help = HELP
    _slug = ""
    _told = ""
    _told_at = 0.0

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the actions as subcommands; all except `show` need a workspace."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        for name, text in ACTIONS.items():
            action = actions.add_parser(name, help=text, description=text)
            if name != "show":
                action.add_argument("workspace", help="the workspace's slug")
                action.add_argument("--reason", default="", help="for the audit trail")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the chosen action on the payload keys. Raises CommandError if it fails."""
        try:
            if options["action"] == "show":
                self._show()
            else:
                self._slug = options["workspace"]
                place = self._workspace(self._slug)
                getattr(self, f"_{options['action']}")(place, options["reason"])
        except (ValkyrError, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error
        except OperationalError as error:
            first = str(error).splitlines()[0]
            raise CommandError(
                f"The database rejected a statement: {first}. Committed changes remain. Run the "
                "command again."
            ) from error

    def _show(self) -> None:
        rows = PayloadKey.objects.select_related("workspace").order_by("workspace__slug", "pk")
        for row in rows:
            state = "seals" if row.seals else "opens old payloads"
            walking = f"; resealed up to {row.marks}" if row.marks else ""
            self._say(f"{row.workspace.slug}  key {row.pk}  {state}{walking}")
        if not rows:
            self._say("No workspace seals its payloads.")

    def _on(self, workspace_id: UUID, reason: str) -> None:
        key = switch.turn_on(workspace_id, actor=_actor(), reason=reason)
        self._say(f"Key {key} seals payloads from now on. Next: {self._command('reseal')}.")

    def _off(self, workspace_id: UUID, reason: str) -> None:
        switch.turn_off(workspace_id, actor=_actor(), reason=reason)
        self._say(
            "Payloads are stored in the clear from now on. Next: "
            f"{self._command('reseal')}, which opens the stored ones."
        )

    def _rotate(self, workspace_id: UUID, reason: str) -> None:
        key = switch.rotate(workspace_id, actor=_actor(), reason=reason)
        self._say(f"Key {key} seals payloads from now on. Next: {self._command('reseal')}.")

    def _reseal(self, workspace_id: UUID, reason: str) -> None:
        found = switch.reseal(workspace_id, actor=_actor(), reason=reason, tell=self._tell)
        self._say(f"{found.changed} of {found.read} rows changed.")
        if found.broken:
            raise CommandError(
                f"The payloads of {found.broken} rows do not open: they were changed, or their key "
                "is gone. These rows were not changed."
            )
        self._say(
            "Steps that began before the switch may still write as before for a minute. Run "
            f"{self._command('retire')} afterwards, which checks all rows."
        )

    def _retire(self, workspace_id: UUID, reason: str) -> None:
        removed = switch.remove_old_keys(workspace_id, actor=_actor(), reason=reason)
        self._say(f"Removed {', '.join(map(str, removed)) or 'no key'}.")

    def _tell(self, found: WalkResult) -> None:
        """Print the progress at the beginning of each table, and every few seconds within it."""
        now = time.monotonic()
        if found.table != self._told or now - self._told_at > TOLD_SECONDS:
            self._say(f"  {found.table}: {found.read} rows read, {found.changed} changed …")
            self._told, self._told_at = found.table, now

    def _workspace(self, slug: str) -> UUID:
        found = Workspace.objects.filter(slug=slug).values_list("pk", flat=True).first()
        if found is None:
            raise CommandError(f"There is no workspace {slug!r}.")
        return found

    def _command(self, action: str) -> str:
        return f"`manage.py payload_keys {action} {self._slug}`"

    def _say(self, text: str) -> None:
        self.stdout.write(text)


def _actor() -> Actor:
    """Return the user who runs the command on this machine."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = "unknown"
    return Actor(None, name, "command")
