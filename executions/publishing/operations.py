"""What users ask of a workflow: publish it, archive it, start a test run of its draft."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from executions.access import Action
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.database import transaction
from executions.definition.graph.trial import TrialRequest
from executions.models import Workflow, WorkflowExecution, WorkflowVersion
from executions.publishing import versioning
from executions.publishing.versioning import publish_trial
from executions.states import VersionKind
from executions.triggers.start import start_execution


def _publish(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> WorkflowVersion:
    return versioning.publish(pk, actor=actor, kind=data.get("kind", VersionKind.PUBLISHED))


def _archive(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Workflow:
    """With `expected_revision`, of this revision of the draft only."""
    return versioning.archive_workflow(
        pk,
        actor=actor,
        expected_revision=data.get("expected_revision"),
        reason=data.get("reason", ""),
    )


def _refuse_archived(row: Workflow) -> str:
    return "Nothing to do: it is archived." if row.archived_at else ""


PUBLISH = Operation(name="publish", apply=_publish, needs=Action.AUTHOR)
ARCHIVE = Operation(name="archive", apply=_archive, needs=Action.DELETE, refuse=_refuse_archived)


# A test run: a version of kind `test` and its one start by hand, both or none.


def start_trial(
    workflow: Workflow,
    payload: Any,
    asked: TrialRequest,
    *,
    actor: Actor,
    definition: Mapping[str, Any] | None = None,
    priority: int | None = None,
) -> WorkflowExecution:
    """Run a definition (the draft unless given), or a part of it, as a test.

    Raises as `publish_trial` and `start_execution` do.
    """
    with transaction.atomic():
        version = publish_trial(workflow.pk, definition, asked, actor=actor)
        return start_execution(
            workflow, payload, actor=actor, priority=priority, trial=version
        ).execution
