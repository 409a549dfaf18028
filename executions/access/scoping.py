"""Rows as one caller may see them: lists, one row, the workspace to work in."""

from dataclasses import dataclass
from typing import Any, Self, TypeVar
from uuid import UUID

from django.core.exceptions import FieldDoesNotExist
from django.db.models import Model, Q, QuerySet

from executions.access.powers import (
    Action,
    AmbiguousWorkspace,
    Member,
    Power,
    Powers,
    Reach,
    User,
    limits_of,
    powers_on,
    reach_of,
    refused,
)
from executions.errors import NotFound
from executions.models import Workflow, Workspace

M = TypeVar("M", bound=Model)


def workspaces_of(user: User, power: Power = Action.VIEW) -> list[UUID]:
    """The ids of the workspaces in which the user may do `power` to everything. One query."""
    return reach_of(user).workspaces(power)


def visible(
    user: User,
    queryset: QuerySet[M],
    power: Power = Action.VIEW,
    *,
    path: str = "",
    reach: Reach | None = None,
) -> QuerySet[M]:
    """The rows to which the user may do `power`: of workspaces by role, of workflows by grant.

    A superuser sees everything, without a comparison that would cost a large list its index.
    `path` is the look-up to the workspace's id where the model's foreign keys do not tell; `reach`
    saves the query of who knows it. One workspace is compared by equality, so that lists are read
    in the order of their index.
    """
    if sees_all(user):
        return queryset
    reach = reach or reach_of(user)
    path = path or workspace_path(queryset.model)
    ids = reach.workspaces(power)
    wanted = Q(**{path: ids[0]}) if len(ids) == 1 else Q(**{f"{path}__in": ids})
    workflow = workflow_path(queryset.model)
    if workflow and (granted := reach.workflows(power)):
        wanted |= Q(**{f"{workflow}__in": granted, f"{path}__in": list(reach.members)})
    return queryset.filter(wanted)


def sees_all(user: User) -> bool:
    """Whether nothing is hidden from the user: a superuser, not limited by a token."""
    boss = user.is_active and bool(getattr(user, "is_superuser", False))
    return boss and limits_of(user) is None


def obtain(user: User, queryset: QuerySet[M], pk: Any, power: Power) -> tuple[M, Powers]:
    """One row and the caller's powers on it, if they include `power`.

    Raises NotFound when there is no such row that the caller may do anything to, Forbidden when
    only other things. Two queries; a third where the role does not decide.
    """
    name = queryset.model._meta.verbose_name_raw
    return let_through(user, queryset.filter(pk=pk).first(), power, f"{name} {pk}")


def let_through(
    user: User, row: M | None, power: Power, name: str, *, member: Member | None = None
) -> tuple[M, Powers]:
    """The row that was found and the caller's powers on it; `name` is what was looked for.

    `member` is what the caller is in the row's workspace, where that was read with the row.
    Raises as `obtain`.
    """
    powers = powers_on_row(user, row, member=member) if row is not None else None
    if row is None or powers is None or not powers.any:
        raise NotFound(f"There is no {name} in your workspaces.")
    if not powers.allows(power):
        raise refused(powers.role, power, limited=_limits(user, power))
    return row, powers


def powers_on_row(user: User, row: Model, *, member: Member | None = None) -> Powers:
    """The caller's powers on one row; `member` as in `powers_on`."""
    path = workflow_path(type(row))
    workflow_id = _follow(row, path) if path else None
    return powers_on(user, workspace_id_of(row), workflow_id, member=member)


def require(user: User, workspace_id: UUID, power: Power) -> Powers:
    """The user's powers in a workspace, if they include `power`.

    Raises NotFound for a workspace the user is no member of, and Forbidden.
    """
    powers = powers_on(user, workspace_id)
    if powers.role is None:
        raise NotFound(f"You are in no workspace {workspace_id}.")
    if not powers.allows(power):
        raise refused(powers.role, power, limited=_limits(user, power))
    return powers


def workspace_for(user: User, workspace_id: UUID | None, power: Power) -> Workspace:
    """The workspace to work in: the one named, or the only one where the user may do `power`.

    Raises NotFound for a workspace the user is no member of, Forbidden, and AmbiguousWorkspace.
    """
    if workspace_id is not None:
        powers = powers_on(user, workspace_id)
        workspace = Workspace.objects.filter(pk=workspace_id, archived_at=None).first()
        if powers.role is None or workspace is None:
            raise NotFound(f"You are in no workspace {workspace_id}.")
        if not powers.allows(power):
            raise refused(powers.role, power, limited=_limits(user, power))
        return workspace
    ids = workspaces_of(user, power)
    found = list(Workspace.objects.filter(pk__in=ids, archived_at=None)[:2])
    if not found:
        raise refused(None, power, limited=_limits(user, power))
    if len(found) > 1:
        raise AmbiguousWorkspace
    return found[0]


def workspace_path(model: type[Model]) -> str:
    """The look-up from a model to its workspace's id, by the model's foreign keys."""
    if model is Workspace:
        return "id"
    for name, path in (
        ("workspace", "workspace_id"),
        ("workflow", "workflow__workspace_id"),
        ("trigger", "trigger__workflow__workspace_id"),
        ("execution", "execution__workspace_id"),
        ("content_object", "content_object__workspace_id"),
    ):
        if _has_field(model, name):
            return path
    raise TypeError(f"{model.__name__} belongs to no workspace; expected a foreign key to one.")


def workflow_path(model: type[Model]) -> str:
    """The look-up from a model to its workflow's id; empty for what belongs to none."""
    if model is Workflow:
        return "id"
    for name, path in (
        ("workflow", "workflow_id"),
        ("trigger", "trigger__workflow_id"),
        ("execution", "execution__workflow_id"),
    ):
        if _has_field(model, name):
            return path
    return ""


def workspace_id_of(row: Model) -> UUID:
    """The id of the workspace a row belongs to."""
    return _follow(row, workspace_path(type(row)))


def _follow(row: Model, path: str) -> UUID:
    value: Any = row
    for name in path.split("__"):
        value = getattr(value, name)
    return UUID(str(value))


def _limits(user: User, power: Power) -> bool:
    """Whether it is the token that does not allow it, whatever its user may."""
    limits = limits_of(user)
    return limits is not None and power not in limits.scopes


def _has_field(model: type[Model], name: str) -> bool:
    try:
        model._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    return True


# What a person may see, as ids for statements by hand: all, workspaces, workflows.


# Executions, for statements by hand; the table is named `e` there. IS TRUE keeps the planner to the
# index of the time: it would read all that a workflow ever ran, once for each slot.
SCOPE_SQL = (
    "((%(everything)s OR e.workspace_id = ANY(%(workspaces)s::uuid[])"
    " OR e.workflow_id = ANY(%(workflows)s::uuid[])) IS TRUE)"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """No execution is counted twice: `workflows` are of other workspaces than `workspaces`."""

    everything: bool = False
    workspaces: tuple[UUID, ...] = ()
    workflows: tuple[UUID, ...] = ()

    @classmethod
    def of(cls, user: User, reach: Reach) -> Self:
        """What the person may see, by `executions.access`; a query where workflows are shared."""
        if sees_all(user):
            return cls(everything=True)
        workspaces = reach.workspaces(Action.VIEW)
        granted = reach.workflows(Action.VIEW)
        if not granted:
            return cls(workspaces=tuple(workspaces))
        others = [pk for pk in reach.members if pk not in set(workspaces)]
        rows = Workflow.objects.filter(pk__in=granted, workspace_id__in=others)
        return cls(
            workspaces=tuple(workspaces),
            workflows=tuple(rows.order_by("pk").values_list("pk", flat=True)),
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """For `SCOPE_SQL`."""
        return {
            "everything": self.everything,
            "workspaces": list(self.workspaces),
            "workflows": list(self.workflows),
        }

    def of_workflow(self, workflow_id: UUID) -> "Scope":
        """One workflow alone, which the person may see."""
        return Scope(workflows=(workflow_id,))

    def of_workspace(self, workspace_id: UUID) -> "Scope":
        """The part of it in one workspace; a query where only workflows are seen there."""
        if self.everything or workspace_id in self.workspaces:
            return Scope(workspaces=(workspace_id,))
        rows = Workflow.objects.filter(pk__in=self.workflows, workspace_id=workspace_id)
        return Scope(workflows=tuple(rows.order_by("pk").values_list("pk", flat=True)))
