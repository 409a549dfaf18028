"""Who may see and do what: roles by workspace, and the one place where querysets are scoped.

A role allows actions on everything of its workspace. Somebody without any action on a kind of
object does not learn that it exists.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model, QuerySet

from executions.errors import NotFound, ValkyrError
from executions.models import Membership, Workspace
from executions.states import Role

User = AbstractBaseUser | AnonymousUser
M = TypeVar("M", bound=Model)


class Action(StrEnum):
    """What can be done in a workspace."""

    VIEW = "view"
    TRIGGER = "trigger"
    AUTHOR = "author"
    OPERATE = "operate"
    TRIAGE = "triage"
    ADMINISTER = "administer"


ALLOWED: dict[str, frozenset[Action]] = {
    Role.ADMIN: frozenset(Action),
    Role.WORKFLOW: frozenset(Action) - {Action.ADMINISTER},
    Role.SYSTEM: frozenset({Action.TRIGGER}),
    Role.USER: frozenset(),
}


class Forbidden(ValkyrError):
    """Your role in this workspace does not allow that."""

    code = "forbidden"


def roles_with(action: Action) -> list[str]:
    """The roles that allow `action`, sorted."""
    return sorted(role for role, actions in ALLOWED.items() if action in actions)


def roles_of(user: User) -> dict[UUID, str]:
    """The user's role by workspace; a superuser is ADMIN of every workspace. One query."""
    if not user.is_active:
        return {}
    if getattr(user, "is_superuser", False):
        return dict.fromkeys(Workspace.objects.values_list("id", flat=True), str(Role.ADMIN))
    return dict(Membership.objects.filter(user_id=user.pk).values_list("workspace_id", "role"))


def workspaces_of(user: User, action: Action = Action.VIEW) -> list[UUID]:
    """The ids of the workspaces in which the user may do `action`. One query."""
    return sorted(w for w, role in roles_of(user).items() if action in ALLOWED[role])


def role_in(user: User, workspace_id: UUID) -> str | None:
    """The user's role in one workspace; None for who is no member. At most one query."""
    if not user.is_active:
        return None
    if getattr(user, "is_superuser", False):
        return str(Role.ADMIN)
    rows = Membership.objects.filter(user_id=user.pk, workspace_id=workspace_id)
    return rows.values_list("role", flat=True).first()


def allows(role: str | None, action: Action) -> bool:
    """Whether a role (None: no member) allows `action`."""
    return role is not None and action in ALLOWED[role]


def require(user: User, workspace_id: UUID, action: Action) -> str:
    """The user's role, if it allows `action` in the workspace; raises Forbidden."""
    role = role_in(user, workspace_id)
    if role is None or not allows(role, action):
        raise _refused(role, action)
    return role


def visible(user: User, queryset: QuerySet[M], action: Action = Action.VIEW) -> QuerySet[M]:
    """The rows of the workspaces in which the user may do `action`.

    One workspace is compared by equality, so that lists are read in the order of their index.
    """
    ids = workspaces_of(user, action)
    path = workspace_path(queryset.model)
    if len(ids) == 1:
        return queryset.filter(**{path: ids[0]})
    return queryset.filter(**{f"{path}__in": ids})


def obtain(user: User, queryset: QuerySet[M], pk: Any, action: Action) -> tuple[M, str]:
    """One row and the caller's role, if the role allows `action` on it.

    Raises NotFound when there is no such row in the user's workspaces (or the user may see
    nothing there), Forbidden when the role allows other actions only. Two queries at most.
    """
    row = queryset.filter(pk=pk).first()
    role = role_in(user, workspace_id_of(row)) if row is not None else None
    if row is None or role is None or not ALLOWED[role]:
        name = queryset.model._meta.verbose_name
        raise NotFound(f"There is no {name} {pk} in your workspaces.")
    if not allows(role, action):
        raise _refused(role, action)
    return row, role


def workspace_for(user: User, workspace_id: UUID | None, action: Action) -> Workspace:
    """The workspace to work in: the one named, or the only one where the user may do `action`.

    Raises NotFound for a workspace the user is no member of, Forbidden, and AmbiguousWorkspace.
    """
    if workspace_id is not None:
        role = role_in(user, workspace_id)
        workspace = Workspace.objects.filter(pk=workspace_id, archived_at=None).first()
        if role is None or workspace is None:
            raise NotFound(f"You are in no workspace {workspace_id}.")
        if not allows(role, action):
            raise _refused(role, action)
        return workspace
    ids = workspaces_of(user, action)
    found = list(Workspace.objects.filter(pk__in=ids, archived_at=None)[:2])
    if not found:
        raise _refused(None, action)
    if len(found) > 1:
        raise AmbiguousWorkspace
    return found[0]


class AmbiguousWorkspace(ValkyrError):
    """You are in several workspaces; say which one with workspaceId."""

    code = "workspace_required"


def workspace_path(model: type[Model]) -> str:
    """The look-up from a model to its workspace's id, by the model's foreign keys."""
    for name, path in (
        ("workspace", "workspace_id"),
        ("execution", "execution__workspace_id"),
        ("workflow", "workflow__workspace_id"),
    ):
        if _has_field(model, name):
            return path
    raise TypeError(f"{model.__name__} belongs to no workspace; expected a foreign key to one.")


def workspace_id_of(row: Model) -> UUID:
    """The id of the workspace a row belongs to."""
    value: Any = row
    for name in workspace_path(type(row)).split("__"):
        value = getattr(value, name)
    return UUID(str(value))


def _has_field(model: type[Model], name: str) -> bool:
    try:
        model._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    return True


def _refused(role: str | None, action: Action) -> Forbidden:
    needed: Iterable[str] = roles_with(action)
    return Forbidden(
        f"Your role here is {role or 'none'}; to {action.value} you need {' or '.join(needed)}. "
        "Ask an administrator of the workspace."
    )
