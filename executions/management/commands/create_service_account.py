"""Create a service account, unless it exists, and an API token for its programs."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from executions.access.actor import Actor
from executions.accounts.service_accounts import create_service_account
from executions.accounts.tokens import create_token
from executions.database import transaction
from executions.errors import ValkyrError, WithProblems
from executions.models import ServiceAccount, Workspace
from executions.states import Role


class Command(BaseCommand):
    """Print the token, once, and nothing else."""

    help = (
        "Create a service account (unless the workspace has one with this name) and a new API "
        "token for it, which is printed. The token has the permissions of the account's role "
        "and expires after VALKYR_TOKEN_DAYS."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments for the account's name, workspace and role, and the token's name."""
        parser.add_argument("name", help="letters, digits, hyphens and underscores")
        parser.add_argument("--workspace", default=Workspace.DEFAULT_SLUG, help="its slug")
        parser.add_argument("--role", choices=Role.values, default=Role.SYSTEM.value)
        parser.add_argument("--token", default="first", help="the token's name")

    def handle(self, *args: Any, **options: Any) -> str:
        """Create the account, unless it exists; return a new token. Raises CommandError."""
        try:
            with transaction.atomic():
                return self._make(options)
        except WithProblems as error:
            raise CommandError(" ".join(problem.message for problem in error.problems)) from error
        except ValkyrError as error:
            raise CommandError(error.message) from error

    def _make(self, options: dict[str, Any]) -> str:
        workspace = Workspace.objects.filter(slug=options["workspace"], archived_at=None).first()
        if workspace is None:
            raise CommandError(
                f"There is no workspace {options['workspace']!r}, or it is archived."
            )
        actor = Actor.of_command()
        rows = ServiceAccount.objects.select_related("user")
        account = rows.filter(workspace=workspace, name=options["name"]).first()
        if account is None:
            _check_name(options["name"])
            account = create_service_account(
                workspace, name=options["name"], role=options["role"], actor=actor
            )
        user = get_user_model().objects.get(pk=account.user_id)
        return create_token(workspace, user, name=options["token"], maker=user, actor=actor)[1]


def _check_name(name: str) -> None:
    """Check the name using the model's own rule. Raises CommandError."""
    try:
        ServiceAccount._meta.get_field("name").clean(name, None)
    except ValidationError as error:
        raise CommandError(f"The name {name!r} is not valid. {' '.join(error.messages)}") from None
