"""A caller's permissions in a workspace and on one object, and errors for missing permissions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import QuerySet

from executions.database import accounts
from executions.database.statements import fetch, fetch_one
from executions.errors import ValkyrError
from executions.models import (
    WorkflowGroupPermission,
    WorkflowUserPermission,
    Workspace,
)
from executions.states import Permission, Role

# The permission table: roles, additional permissions, permissions on one workflow.


class Action(StrEnum):
    """The actions that roles and object permissions allow in a workspace."""

    VIEW = "view"
    TRIGGER = "trigger"
    TELL = "tell"  # publish events
    RUN = "run"  # act as a remote runner
    AUTHOR = "author"
    DELETE = "delete"
    OPERATE = "operate"
    ADMINISTER = "administer"


Power = Action | Permission

# The actions that each role allows on all objects of its workspace.
ALLOWED: dict[str, frozenset[Action]] = {
    Role.ADMIN: frozenset(Action),
    Role.WORKFLOW: frozenset(Action) - {Action.ADMINISTER, Action.RUN},
    Role.SYSTEM: frozenset({Action.TRIGGER, Action.TELL, Action.RUN}),
    Role.USER: frozenset(),
}
# The additional permissions that each role includes.
INCLUDED: dict[str, frozenset[Permission]] = {
    Role.ADMIN: frozenset(Permission),
    Role.WORKFLOW: frozenset(Permission)
    - {Permission.REVEAL, Permission.CONFIGURE, Permission.DEPLOY},
    Role.SYSTEM: frozenset(),
    Role.USER: frozenset(),
}
# Django's permissions on one workflow, and the actions that each allows on it and its executions.
OBJECT_PERMISSIONS: dict[str, frozenset[Action]] = {
    "read_workflow": frozenset({Action.VIEW}),
    "write_workflow": frozenset({Action.AUTHOR, Action.OPERATE}),
    "execute_workflow": frozenset({Action.TRIGGER}),
    "delete_workflow": frozenset({Action.DELETE}),
}
# A scope that only API tokens have: with it, tools of AI agents write without an approval. A token
# gets it only if an administrator names it.
UNATTENDED = "unattended"
# The possible scopes of an API token.
SCOPES: tuple[str, ...] = tuple(sorted([*Action, *Permission.values, UNATTENDED]))


def roles_with(power: Power) -> list[str]:
    """Return the roles that allow `power`, sorted."""
    return sorted(role for role in ALLOWED if power in ALLOWED[role] | INCLUDED[role])


User = AbstractBaseUser | AnonymousUser
# A membership's role and permissions.
Member = tuple[str | None, Sequence[str]]
NO_MEMBER: Member = (None, ())
# Maximum number of memberships, and of object permissions, that are read for one user.
MOST_HELD = 10_000


@dataclass(frozen=True, slots=True)
class TokenLimits:
    """An API token's limits on the powers of its user; authentication stores them on the user."""

    workspace_id: UUID
    scopes: frozenset[str]


@dataclass(frozen=True)
class Powers:
    """A user's powers in one workspace and, if given, on one workflow.

    Object permissions and Django's permissions are read only if the role does not decide.
    """

    user: User
    role: str | None
    given: frozenset[str] = frozenset()
    workflow_id: UUID | None = None
    limits: TokenLimits | None = field(default=None)

    def allows(self, power: Power) -> bool:
        """Return whether the user has the power; a permission also requires the action VIEW."""
        if self.limits is not None and power not in self.limits.scopes:
            return False
        if isinstance(power, Permission):
            return self._has(Action.VIEW) and self._permitted(power)
        return self._has(power)

    @property
    def any(self) -> bool:
        """Return whether the user has any power here; otherwise the object is hidden."""
        return bool(self.role and ALLOWED[self.role]) or bool(self._on_workflow)

    @property
    def limited(self) -> bool:
        """Return whether an API token's limits apply."""
        return self.limits is not None

    def _has(self, action: Action) -> bool:
        by_role = self.role is not None and action in ALLOWED[self.role]
        return by_role or action in self._on_workflow

    def _permitted(self, permission: Permission) -> bool:
        if self.role is not None and permission in INCLUDED[self.role]:
            return True
        return permission in self.given or holds_permission(self.user, permission)

    @cached_property
    def _on_workflow(self) -> frozenset[Action]:
        """Return the actions that object permissions on the workflow add.

        Uses a query only if a workflow is given and the role does not allow all these actions.
        """
        if self.workflow_id is None or self.role in {Role.ADMIN, Role.WORKFLOW}:
            return frozenset()
        codes = _granted(self.user, self.workflow_id)
        allowed = [OBJECT_PERMISSIONS[code] for code in codes if code in OBJECT_PERMISSIONS]
        return frozenset().union(*allowed)


def holds_permission(user: User, permission: Permission) -> bool:
    """Return whether the user has a permission in Django, directly or through a group."""
    holds: Any = getattr(user, "has_perm", None)
    label = Workspace._meta.app_label
    return holds is not None and bool(holds(f"{label}.{permission.value}"))


def limits_of(user: User) -> TokenLimits | None:
    """Return the limits of the API token that the user signed in with; None if there is none."""
    limits: TokenLimits | None = getattr(user, "token_limits", None)
    return limits


def holdings(user: User) -> tuple[dict[UUID, Powers], dict[UUID, set[str]]]:
    """Return the user's powers, keyed by workspace ID, and grants, keyed by workflow ID.

    Uses one query, or three if accounts are in another database. A superuser has the role ADMIN.
    """
    limits = limits_of(user)
    powers: dict[UUID, Powers] = {}
    grants: dict[UUID, set[str]] = {}
    for workspace_id, role, given, workflow_id in _held(user):
        if workflow_id is not None:
            grants.setdefault(workflow_id, set()).add(role)
        elif limits is None or workspace_id == limits.workspace_id:
            powers[workspace_id] = Powers(user, role, frozenset(given), limits=limits)
    return powers, grants


def _held(user: User) -> Iterable[tuple[Any, str, list[str], UUID | None]]:
    """Return an active user's memberships, and the user's grants on single workflows.

    A membership is a row (workspace, role, permissions, None); a grant is (None, code, [],
    workflow). A superuser gets the role ADMIN in every workspace.
    """
    if not user.is_active:
        return []
    if getattr(user, "is_superuser", False):
        ids = Workspace.objects.values_list("id", flat=True)
        return [(pk, str(Role.ADMIN), [], None) for pk in ids]
    found = fetch("memberships_and_grants", {"user": user.pk, "most": MOST_HELD})
    return [*found, *_of_groups(user)] if accounts.apart() else found


def _of_groups(user: User) -> list[tuple[Any, str, list[str], UUID | None]]:
    """Return the grants of the user's groups, for accounts and groups in another database.

    Uses two queries: one for the groups, and one for their grants.
    """
    rows = _grants(user)[1].values_list("permission__codename", "content_object_id")
    return [(None, code, [], workflow_id) for code, workflow_id in rows[:MOST_HELD]]


def powers_on(
    user: User,
    workspace_id: UUID,
    workflow_id: UUID | None = None,
    *,
    member: Member | None = None,
) -> Powers:
    """Return the user's powers in a workspace (and on a workflow). Uses at most one query.

    Pass `member` if the user's membership was already read.
    """
    limits = limits_of(user)
    if not user.is_active or (limits is not None and limits.workspace_id != workspace_id):
        return Powers(user, None)
    if getattr(user, "is_superuser", False):
        return Powers(user, str(Role.ADMIN), limits=limits)
    role, given = member or _member(user, workspace_id)
    if role is None:
        return Powers(user, None)
    return Powers(user, role, frozenset(given), workflow_id, limits)


def _member(user: User, workspace_id: UUID) -> Member:
    found = fetch_one("membership", {"user": user.pk, "workspace": workspace_id})
    return (found[0], found[1]) if found else NO_MEMBER


def _granted(user: User, workflow_id: UUID) -> set[str]:
    """Return the object permissions on a workflow that the user and the user's groups have.

    Uses one query, or two if accounts are in another database.
    """
    mine, ours = (
        some.filter(content_object_id=workflow_id).values_list("permission__codename", flat=True)
        for some in _grants(user)
    )
    return set(mine.union(ours))


def _inner(groups: Any) -> Any:
    """Return the groups' keys: a subquery, or a list if they are in another database."""
    return list(groups.values_list("pk", flat=True)) if accounts.apart() else groups.values("pk")


def _grants(user: User) -> tuple[QuerySet[Any, Any], QuerySet[Any, Any]]:
    """Return the object permissions of the user, and those of the user's groups."""
    person: Any = user
    groups: Any = getattr(user, "groups", None)
    given = WorkflowGroupPermission.objects
    return (
        WorkflowUserPermission.objects.filter(user_id=person.pk),
        given.none() if groups is None else given.filter(group__in=_inner(groups)),
    )


# The extent of a caller's powers: whole workspaces by role, single workflows by grant.
#
# An object permission counts only for members of the workflow's workspace, whatever their role: a
# user who leaves the workspace loses it.


@dataclass(frozen=True, slots=True)
class Reach:
    """The caller's powers, keyed by workspace ID, and object permissions, keyed by workflow ID."""

    user: User
    members: dict[UUID, Powers]
    grants: dict[UUID, set[str]]

    def workspaces(self, power: Power) -> list[UUID]:
        """Return the IDs of workspaces in which the caller has `power` on everything, sorted."""
        return sorted(pk for pk, powers in self.members.items() if powers.allows(power))

    def workflows(self, power: Power) -> list[UUID]:
        """Return the IDs of workflows on which an object permission gives `power`."""
        limits = limits_of(self.user)
        if not self.grants or (limits is not None and power not in limits.scopes):
            return []
        wanted: Any = power
        if isinstance(power, Permission):
            if not holds_permission(self.user, power):
                return []
            wanted = Action.VIEW
        codes = {code for code, actions in OBJECT_PERMISSIONS.items() if wanted in actions}
        return [pk for pk, given in self.grants.items() if given & codes]

    def anywhere(self, power: Power) -> bool:
        """Return whether the caller has `power` on any object."""
        return bool(self.workspaces(power) or self.workflows(power))


def reach_of(user: User) -> Reach:
    """Return the caller's powers and object permissions as a Reach."""
    return Reach(user, *holdings(user))


# Errors of missing permissions.


class Forbidden(ValkyrError):
    """Your role in this workspace does not allow that."""

    code = "forbidden"


class AmbiguousWorkspace(ValkyrError):
    """You belong to several workspaces and the request names none. Send `workspaceId`."""

    code = "workspace_required"


def refused(role: str | None, power: Power, *, limited: bool = False) -> Forbidden:
    """Return an error that names the missing power.

    Pass `limited` if a token's scopes forbid the operation.
    """
    if limited:
        return Forbidden(
            f"This API token's scopes do not include {power.value}. Use one that does."
        )
    needed = " or ".join(roles_with(power))
    have = f"Your role here is {role or 'none'}"
    if isinstance(power, Permission):
        return Forbidden(
            f"{have}, without the permission {power.value} ({power.label}). You need the role "
            f"{needed}, or that permission. Ask an administrator of the workspace."
        )
    return Forbidden(
        f"{have}; to {power.value} you need {needed}. Ask an administrator of the workspace."
    )
