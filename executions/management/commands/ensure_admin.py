"""Create the administrator of a new installation; leave an existing administrator unchanged."""

import os
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from executions.access.actor import Actor, record
from executions.access.people import person_named
from executions.database import transaction
from executions.models import Membership, Workspace
from executions.states import Role


class Command(BaseCommand):
    """Print `created`, `exists`, or `exists with another password`."""

    help = (
        "Create the superuser VALKYR_ADMIN_USERNAME with VALKYR_ADMIN_PASSWORD as an "
        "administrator of the default workspace. The password of an existing user is never "
        "changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the option for the name; the password comes only from the environment."""
        parser.add_argument("--username", default=os.environ.get("VALKYR_ADMIN_USERNAME", "admin"))

    def handle(self, *args: Any, **options: Any) -> str:
        """Create the user and the membership, unless the user exists. Raises CommandError."""
        password = os.environ.get("VALKYR_ADMIN_PASSWORD", "")
        if not password:
            raise CommandError(
                "VALKYR_ADMIN_PASSWORD is empty. Set it to the administrator's password."
            )
        with transaction.atomic():
            return self._ensure(options["username"], password)

    def _ensure(self, username: str, password: str) -> str:
        users = get_user_model()
        user = person_named(username)
        if user is not None:
            return "exists" if user.check_password(password) else "exists with another password"
        user = users.objects.create_superuser(**{users.USERNAME_FIELD: username}, password=password)
        _make_member(user)
        record(
            Actor.of_command(),
            "user.create",
            workspace_id=None,
            object_type="User",
            object_id=user.pk,
            after={"username": username, "superuser": True},
        )
        return "created"


def _make_member(user: Any) -> None:
    workspace = Workspace.objects.filter(slug=Workspace.DEFAULT_SLUG).first()
    if workspace is None:
        raise CommandError(
            f"There is no workspace {Workspace.DEFAULT_SLUG!r}; run `manage.py migrate` first."
        )
    Membership.objects.get_or_create(user=user, workspace=workspace, defaults={"role": Role.ADMIN})
