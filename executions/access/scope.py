"""What a person may see, as ids for statements by hand: all, workspaces, workflows."""

from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from executions.access import Action, Reach, User
from executions.access.scoping import sees_all
from executions.models import Workflow

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
