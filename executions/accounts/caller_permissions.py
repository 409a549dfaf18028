"""The caller's workspaces, and the permissions that the caller may give to a token."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from executions.access import (
    INCLUDED,
    UNATTENDED,
    Action,
    Forbidden,
    Powers,
    Reach,
    User,
    reach_of,
)
from executions.access.powers import holds_permission
from executions.models import Workspace
from executions.states import Permission


def seen_workspaces(user: User) -> tuple[QuerySet[Workspace], Reach]:
    """Return the workspaces in which the caller has a role, and the caller's powers."""
    reach = reach_of(user)
    return Workspace.objects.filter(pk__in=list(reach.members)), reach


def is_root(user: User) -> bool:
    """Return whether the caller may change the installation: a superuser who used no API token."""
    person: Any = user
    limited = getattr(user, "token_limits", None) is not None
    return bool(person.is_active and getattr(person, "is_superuser", False)) and not limited


def require_root(user: User, what: str) -> None:
    """Raise Forbidden for callers who may not change the installation."""
    if not is_root(user):
        raise Forbidden(
            f"Only a superuser may {what}, and not with an API token. Sign in as a superuser."
        )


def refuse_narrow_token(user: User) -> None:
    """Raise Forbidden for an API token without the scope `administer`: it may not manage tokens."""
    limits = getattr(user, "token_limits", None)
    if limits is not None and Action.ADMINISTER not in limits.scopes:
        raise Forbidden(
            "This API token cannot create or change tokens: it lacks the scope administer. Use a "
            "token with that scope."
        )


def permissions_of(powers: Powers) -> list[str]:
    """Return the caller's permissions (by role, membership or Django) within the token's scopes."""
    limits = powers.limits
    included = INCLUDED.get(powers.role or "", frozenset())
    return [
        permission.value
        for permission in Permission
        if (limits is None or permission in limits.scopes)
        and (
            permission in included
            or permission in powers.given
            or holds_permission(powers.user, permission)
        )
    ]


def scopes_of(user: User, workspace_id: UUID) -> frozenset[str]:
    """Return, as scopes, the caller's powers in a workspace and on workflows of any workspace."""
    reach = reach_of(user)
    powers = reach.members.get(workspace_id)
    if powers is None:
        return frozenset()
    actions = {
        action.value for action in Action if powers.allows(action) or reach.workflows(action)
    }
    finer = permissions_of(powers) if Action.VIEW in actions else []
    return frozenset(actions).union(finer)


def token_scopes_of(user: User, workspace_id: UUID) -> frozenset[str]:
    """Return the scopes that the caller may name for a token in a workspace.

    These are `scopes_of`, plus `UNATTENDED` for administrators, unless their own token lacks it.
    """
    may = scopes_of(user, workspace_id)
    limits = getattr(user, "token_limits", None)
    if Action.ADMINISTER in may and (limits is None or UNATTENDED in limits.scopes):
        return may | {UNATTENDED}
    return may
