"""Expose workflows as tools, hide them, and describe each workflow's tool."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions.public.access import Actor, User, record, visible
from executions.public.database import transaction
from executions.public.models import Workflow
from valkyr_plugins.mcp.models import WorkflowTool

# Maximum number of tools, because more would fill an agent's context. The oldest are shown.
MOST_SHOWN = 25
PREFIX = "workflow_"
# Maximum characters of a tool's name that clients accept.
MOST_NAME = 64
ANY_OBJECT: dict[str, Any] = {"type": "object"}


@dataclass(frozen=True, slots=True)
class ExposedWorkflow:
    """A published workflow that the caller may see, as a tool."""

    workflow_id: UUID
    name: str
    title: str
    description: str
    schema: dict[str, Any]
    direct: bool


def expose(workflow_id: UUID, *, direct: bool, actor: Actor, reason: str = "") -> WorkflowTool:
    """Offer a workflow as a tool, or change how it starts; return the tool."""
    with transaction.atomic():
        workflow = Workflow.objects.only("id", "workspace_id").get(pk=workflow_id)
        tool, new = WorkflowTool.objects.update_or_create(
            workflow_id=workflow.pk,
            defaults={"direct": direct},
            create_defaults={
                "workspace_id": workflow.workspace_id,
                "direct": direct,
                "created_by_name": actor.name[:200],
            },
        )
        _note(tool, "create" if new else "update", actor, reason, {"direct": direct})
    return tool


def hide(workflow_id: UUID, *, actor: Actor, reason: str = "") -> None:
    """Stop offering a workflow as a tool; do nothing if it is not offered."""
    with transaction.atomic():
        tool = WorkflowTool.objects.select_for_update().filter(workflow_id=workflow_id).first()
        if tool is not None:
            _note(tool, "delete", actor, reason, None)
            tool.delete()


def is_exposed(workflow_id: UUID) -> bool:
    """Return whether a workflow is offered as a tool."""
    return WorkflowTool.objects.filter(workflow_id=workflow_id).exists()


def exposed_to(user: User) -> list[ExposedWorkflow]:
    """Return the enabled, published workflows of the 25 oldest tools that the user may see.

    Uses at most two queries, in addition to those for the user's permissions.
    """
    tools = visible(user, WorkflowTool.objects.order_by("pk"))[:MOST_SHOWN]
    direct = dict(tools.values_list("workflow_id", "direct"))
    if not direct:
        return []
    rows = visible(user, Workflow.objects.filter(pk__in=list(direct), archived_at=None))
    found = rows.filter(enabled=True, latest_version__isnull=False)
    return [
        _shown(workflow, direct[workflow.pk])
        for workflow in found.select_related("latest_version").defer("definition").order_by("pk")
    ]


def _shown(workflow: Workflow, direct: bool) -> ExposedWorkflow:
    assert workflow.latest_version is not None, "the query excludes others"
    given = workflow.latest_version.definition.get("input")
    schema = given if isinstance(given, dict) else {}
    slug = "".join(char if char.isalnum() else "_" for char in workflow.slug)
    # The ID makes names unique among workspaces.
    name = f"{PREFIX}{slug}"[: MOST_NAME - 9] + f"_{workflow.pk.hex[-8:]}"
    starts = "Starts" if direct else "Proposes to start"
    text = f"{starts} an execution of the workflow “{workflow.name}”. {workflow.description}"
    return ExposedWorkflow(
        workflow.pk, name, workflow.name, text.strip()[:2_000], ANY_OBJECT | schema, direct
    )


def _note(
    tool: WorkflowTool, verb: str, actor: Actor, reason: str, after: dict[str, Any] | None
) -> None:
    record(
        actor,
        f"workflow_tool.{verb}",
        workspace_id=tool.workspace_id,
        object_type=WorkflowTool.AUDITED_AS,
        object_id=tool.workflow_id,
        reason=reason,
        after=after,
    )
