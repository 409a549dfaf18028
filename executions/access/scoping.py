"""Limit lists and single rows to what a caller may see, and choose the workspace of a call."""

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
    """Return the IDs of workspaces where the user has `power` on everything, sorted."""
    return reach_of(user).workspaces(power)


def visible(
    user: User,
    queryset: QuerySet[M],
    power: Power = Action.VIEW,
    *,
    path: str = "",
    reach: Reach | None = None,
) -> QuerySet[M]:
    """Return the rows on which the user has `power`, by role or by object permission.

    For superusers without an API token, no condition is added, so that a large list can use an
    index. `path` is the lookup to the workspace's ID if the model's foreign keys do not show it;
    `reach` saves a query. One workspace is compared by equality, so that lists are read in the
    order of an index.
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
    """Return whether the user sees every row: a superuser who did not use an API token."""
    boss = user.is_active and bool(getattr(user, "is_superuser", False))
    return boss and limits_of(user) is None


def obtain(user: User, queryset: QuerySet[M], pk: Any, power: Power) -> tuple[M, Powers]:
    """Return one row and the caller's powers on it, if they include `power`.

    Raises NotFound if no such row is visible to the caller, and Forbidden if only `power` is
    missing. Uses two queries, and further queries if the role does not decide.
    """
    name = queryset.model._meta.verbose_name_raw
    return let_through(user, queryset.filter(pk=pk).first(), power, f"{name} {pk}")


def let_through(
    user: User, row: M | None, power: Power, name: str, *, member: Member | None = None
) -> tuple[M, Powers]:
    """Return the found row and the caller's powers on it.

    `name` identifies the row in the message of NotFound. `member` is the caller's membership, if it
    was read with the row. Raises the errors of `obtain`.
    """
    powers = powers_on_row(user, row, member=member) if row is not None else None
    if row is None or powers is None or not powers.any:
        raise NotFound(f"There is no {name} in your workspaces.")
    if not powers.allows(power):
        raise refused(powers.role, power, limited=_limits(user, power))
    return row, powers


def powers_on_row(user: User, row: Model, *, member: Member | None = None) -> Powers:
    """Return the caller's powers on one row; `member` has the same meaning as in `powers_on`."""
    path = workflow_path(type(row))
    value = _follow(row, path) if path else None
    workflow_id = UUID(str(value)) if value else None  # None if the execution was deleted
    return powers_on(user, workspace_id_of(row), workflow_id, member=member)


def require(user: User, workspace_id: UUID, power: Power) -> Powers:
    """Return the user's powers in a workspace, if they include `power`.

    Raises NotFound if the user is not a member of the workspace, and Forbidden without `power`.
    """
    powers = powers_on(user, workspace_id)
    if powers.role is None:
        raise NotFound(
            f"You are not a member of a workspace {workspace_id}. Check the id, or ask an "
            "administrator of the workspace to add you."
        )
    if not powers.allows(power):
        raise refused(powers.role, power, limited=_limits(user, power))
    return powers


def workspace_for(user: User, workspace_id: UUID | None, power: Power) -> Workspace:
    """Return the named workspace, or the only workspace in which the user has `power`.

    Raises NotFound for an archived workspace or a non-member, Forbidden without `power`, and
    AmbiguousWorkspace if no workspace is named and several match.
    """
    if workspace_id is not None:
        powers = powers_on(user, workspace_id)
        workspace = Workspace.objects.filter(pk=workspace_id, archived_at=None).first()
        if powers.role is None or workspace is None:
            raise NotFound(
                f"You are not a member of a workspace {workspace_id}. Check the id, or ask an "
                "administrator of the workspace to add you."
            )
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
    """Return the lookup from a model to its workspace's ID, according to the model's foreign keys.

    Raises TypeError for a model without such a key.
    """
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
    raise TypeError(f"{model.__name__} does not belong to a workspace; add a foreign key to one.")


def workflow_path(model: type[Model]) -> str:
    """Return the lookup from a model to its workflow's ID; "" if the model has no workflow."""
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
    """Return the ID of a row's workspace."""
    return UUID(str(_follow(row, workspace_path(type(row)))))


def _follow(row: Model, path: str) -> Any:
    value: Any = row
    for name in path.split("__"):
        value = getattr(value, name)
    return value


def _limits(user: User, power: Power) -> bool:
    """Return whether the user signed in with a token whose scopes exclude the power."""
    limits = limits_of(user)
    return limits is not None and power not in limits.scopes


def _has_field(model: type[Model], name: str) -> bool:
    try:
        model._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    return True


# The condition for visible executions in hand-written statements, which call the table `e`. IS TRUE
# makes the planner use the index of the time; otherwise, it would read all executions of a workflow
# once per time slot of a chart.
SCOPE_SQL = (
    "((%(everything)s OR e.workspace_id = ANY(%(workspaces)s::uuid[])"
    " OR e.workflow_id = ANY(%(workflows)s::uuid[])) IS TRUE)"
)


@dataclass(frozen=True, slots=True)
class Scope:
    """The workspaces, and the single workflows outside them, whose rows a user may see.

    No workflow is in both parts, so a statement with the scope counts each workflow once.
    """

    everything: bool = False
    workspaces: tuple[UUID, ...] = ()
    workflows: tuple[UUID, ...] = ()

    @classmethod
    def of(cls, user: User, reach: Reach) -> Self:
        """Return the user's scope. Uses one query if single workflows were shared with the user."""
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
        """Return the parameters for `SCOPE_SQL`."""
        return {
            "everything": self.everything,
            "workspaces": list(self.workspaces),
            "workflows": list(self.workflows),
        }

    def of_workflow(self, workflow_id: UUID) -> "Scope":
        """Return the scope of one workflow that the user may see."""
        return Scope(workflows=(workflow_id,))

    def of_workspace(self, workspace_id: UUID) -> "Scope":
        """Return the part of this scope in one workspace. Uses at most one query."""
        if self.everything or workspace_id in self.workspaces:
            return Scope(workspaces=(workspace_id,))
        rows = Workflow.objects.filter(pk__in=self.workflows, workspace_id=workspace_id)
        return Scope(workflows=tuple(rows.order_by("pk").values_list("pk", flat=True)))
