"""Let a user of the identity provider sign in to an existing account."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import IntegrityError

from executions.public.access import Actor, person_named
from executions.public.database import transaction
from executions.public.models import ServiceAccount
from valkyr_plugins.sso.accounts import link
from valkyr_plugins.sso.configuration import configured


class Command(BaseCommand):
    """The command `manage.py link_sign_in <user name> <subject>`."""

    help = "Link a local user to the provider's subject (the claim `sub`) at the configured issuer."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the user name, and the subject at the provider."""
        parser.add_argument("username")
        parser.add_argument("subject")

    def handle(self, *args: Any, **options: Any) -> str:
        """Link the account; the audit trail records the link."""
        sso = configured()
        if sso is None:
            raise CommandError("VALKYR_OIDC_ISSUER is not set, so users cannot be linked.")
        user = person_named(options["username"])
        if user is None:
            raise CommandError(f"There is no user {options['username']!r}.")
        if ServiceAccount.objects.filter(user=user).exists():
            raise CommandError(f"{options['username']!r} is a service account, not a person.")
        try:
            with transaction.atomic():
                link(user, options["subject"], sso.issuer, Actor.of_command())
        except IntegrityError:
            raise CommandError(
                f"The subject {options['subject']!r} is already linked to an account. Delete "
                "that account, or use another subject."
            ) from None
        return f"{user.get_username()} can now sign in as {options['subject']} of {sso.issuer}"
