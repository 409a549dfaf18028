"""List the keys that seal secrets, and rotate them without downtime."""

import getpass
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError

from executions.access.actor import Actor
from executions.credentials import key_rotation
from executions.credentials.key_rotation import KeyUse, RotationProgress
from executions.errors import ValkyrError

HELP = """
Secrets are sealed with data keys, and the data keys with the installation's key (VALKYR_KEY_FILE,
VALKYR_KEY or VALKYR_KEY_URI). All of these work without downtime and can be repeated.
A new data key: rotate, reseal, retire. A new installation key: start every process with the new key
and the old one under VALKYR_KEY_OLD_FILE, VALKYR_KEY_OLD or VALKYR_KEY_OLD_URI; rewrap; start them
again without the old one.
"""
ACTIONS = {
    "show": "list the data keys: which one seals, and how many values each seals",
    "rotate": "add a data key, which seals all values from now on",
    "reseal": "seal every stored value again with the newest data key",
    "retire": "remove data keys that seal no value",
    "rewrap": "seal the data keys with the current installation key",
}
MOST_NAMED = 20


class Command(BaseCommand):
    """Print the result; on failure, print an error and exit with code 1."""

    requires_system_checks = []  # they load every page, a quarter of the start time
    help = HELP

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the actions as subcommands; `retire` accepts the IDs of keys."""
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        for name, text in ACTIONS.items():
            action = actions.add_parser(name, help=text, description=text)
            if name == "retire":
                action.add_argument("keys", nargs="*", type=int, help="ids; default: all old keys")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the chosen action on the keys. Raises CommandError if it fails."""
        try:
            getattr(self, f"_{options['action']}")(options)
        except (ValkyrError, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error
        except OperationalError as error:
            first = str(error).splitlines()[0]
            raise CommandError(
                f"The database rejected a statement: {first}. Committed changes remain. Run the "
                "command again."
            ) from error

    def _show(self, options: dict[str, Any]) -> None:
        now = key_rotation.standing()
        keyset = now.keyset
        self._say(
            f"keyset version {keyset.version}, sealed with {keyset.key_uri}, changed "
            f"{keyset.updated_at:%Y-%m-%d %H:%M:%S} UTC"
        )
        for key in [*now.ids, *sorted(now.unknown)]:
            of = ", ".join(f"{count[key]} of {label}" for label, count in now.counts.items())
            self._say(f"  {key:>10}  {_standing(now, key):<7}  seals {of}")
        if now.unknown:
            self._say("Values sealed with a lost key cannot be opened: store them again.")

    def _rotate(self, options: dict[str, Any]) -> None:
        key = key_rotation.rotate(_actor())
        self._say(f"Key {key} seals from now on. Next: `manage.py keys reseal`.")

    def _reseal(self, options: dict[str, Any]) -> None:
        broken = []
        for one in key_rotation.reseal(_actor(), self._tell):
            self._say(f"{one.column}: {one.done} sealed again")
            broken += [f"{one.column} of {pk}" for pk in one.broken]
        if broken:
            more = "" if len(broken) <= MOST_NAMED else f" and {len(broken) - MOST_NAMED} more"
            raise CommandError(
                f"{len(broken)} values cannot be opened and were not changed: "
                f"{', '.join(broken[:MOST_NAMED])}{more}. Store them again or delete them."
            )
        self._say("Everything is sealed with the newest key. Next: `manage.py keys retire`.")

    def _tell(self, progress: RotationProgress) -> None:
        self._say(f"  {progress.column}: {progress.done} …")

    def _retire(self, options: dict[str, Any]) -> None:
        removed = key_rotation.retire(_actor(), options["keys"])
        if removed:
            self._say(f"Removed {', '.join(map(str, removed))}.")
        else:
            self._say("There is only one key; none was removed.")

    def _rewrap(self, options: dict[str, Any]) -> None:
        before = key_rotation.rewrap(_actor())
        self._say(
            f"The data keys were sealed with {before} and are now sealed with the current "
            "key. Remove the old key after every process has the current one."
        )

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()


def _standing(now: KeyUse, key: int) -> str:
    if key in now.unknown:
        return "lost"
    return "primary" if key == now.primary else "old"


def _actor() -> Actor:
    """Return the user who runs the command on this machine."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = "unknown"
    return Actor(None, name, "command")
