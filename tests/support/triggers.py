"""Workflows with triggers, published through the product's own functions."""

from typing import Any

from executions.models import Trigger, Workflow, Workspace
from executions.publishing import versioning
from tests.support.workflows import ACTOR, publish

ECHO: dict[str, Any] = {
    "tasks": [{"id": "keep", "use": "data.set", "with": {"values": {"got": "{{ input }}"}}}],
    "output": "{{ tasks.keep.output }}",
}
NAMED: dict[str, Any] = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}},
}


def triggered(
    *triggers: dict[str, Any], workspace: Workspace | None = None, **more: Any
) -> Workflow:
    """Publish a workflow that returns its payload, with these triggers."""
    return publish({**ECHO, "triggers": list(triggers), **more}, workspace)


def publish_again(workflow: Workflow, *triggers: dict[str, Any], **more: Any) -> None:
    """Publish a next version, with these triggers instead."""
    document = {"schema": "valkyr/1", "name": "tested", **ECHO, "triggers": list(triggers), **more}
    versioning.update_workflow(
        workflow.pk, {"definition": document}, actor=ACTOR, expected_revision=None
    )
    versioning.publish(workflow.pk, actor=ACTOR)


def only_trigger(workflow: Workflow) -> Trigger:
    """Return the workflow's only trigger."""
    return Trigger.objects.select_related("workflow").get(workflow=workflow)
