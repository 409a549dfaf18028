"""Remove the second factors and the recovery codes of a user who has lost them."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from executions.public.access import Actor, person_named
from valkyr_plugins.mfa import factors


class Command(BaseCommand):
    """Removes a user's second factors: `manage.py reset_second_factor <user name>`."""

    help = (
        "Remove a person's authenticator app, passkeys and recovery codes, and end the "
        "person's sessions. Until the person sets up another factor, the password alone is "
        "enough to sign in."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments for the user and the reason."""
        parser.add_argument("username")
        parser.add_argument("--reason", default="", help="the reason, for the audit trail")

    def handle(self, *args: Any, **options: Any) -> str:
        """Reset the user's factors, and record this in the audit trail."""
        user = person_named(options["username"])
        if user is None:
            raise CommandError(f"There is no user {options['username']!r}.")
        if not factors.ids_of(user):
            raise CommandError(f"{user.get_username()} has no second factor.")
        factors.reset(user, Actor.of_command(), options["reason"])
        return f"The second factor of {user.get_username()} was removed."
