"""Executions of workflows with two versions, to move from the first to the second."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from executions.models import Workflow, WorkflowExecution
from executions.publishing import versioning
from executions.states import FINAL
from runners.models import Run
from runners.repair.version_changes import VersionMove
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, publish, start

NOTHING: Mapping[str, Any] = MappingProxyType({})


def versions(
    old: list[dict[str, Any]],
    new: list[dict[str, Any]],
    *,
    both: Mapping[str, Any] = NOTHING,
    **more: Any,
) -> Workflow:
    """Create a workflow with two published versions; `both` adds keys to both, `more` to the
    second.
    """
    made = publish({"tasks": old, **both})
    changed = made.definition | {"tasks": new} | more
    versioning.update_workflow(
        made.pk, {"definition": changed}, actor=ACTOR, expected_revision=None
    )
    versioning.publish(made.pk, actor=ACTOR)
    made.refresh_from_db()
    return made


def move_of(workflow: Workflow, **names: str) -> VersionMove:
    first, second = workflow.versions.order_by("number").values_list("pk", flat=True)
    return VersionMove(first, second, names)


def begun(workflow: Workflow, queue: World, payload: Any = None) -> UUID:
    """Start an execution on the first version, and run it to its first wait."""
    execution = start(workflow, payload, version=1)
    queue.drain()
    return execution


def outputs(execution: UUID) -> dict[str, Any]:
    rows = Run.objects.filter(execution=execution, state="SUCCESS", superseded=False)
    return {run.step_path: run.outputs for run in rows}


def ended(execution: UUID) -> WorkflowExecution:
    row = WorkflowExecution.objects.get(pk=execution)
    assert row.state in FINAL, row.state
    return row
