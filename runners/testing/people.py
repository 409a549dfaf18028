"""People of a test: made when they are first named."""

from typing import Any

from django.contrib.auth import get_user_model

from executions.models import Membership, Workspace
from executions.states import Role

ANYBODY = "tester"


def person(name: str, workspace: Workspace) -> Any:
    """A member of the workspace by that name, a workflow author unless they are one already.

    A role's name (`ADMIN`) stands for somebody of that role, no name for an administrator.
    """
    role = name if name in Role.values else (Role.WORKFLOW if name else Role.ADMIN)
    user, _ = get_user_model().objects.get_or_create(username=name or ANYBODY)
    Membership.objects.get_or_create(user=user, workspace=workspace, defaults={"role": role})
    return user
