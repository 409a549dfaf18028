"""Users' operations on a workflow: publish, archive, copy, and start a test run of its draft."""

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
from executions.publishing.taking_over import take_over
from executions.publishing.versioning import publish_trial
from executions.states import VersionKind
from executions.triggers.start import start_execution
from executions.triggers.stored_input import stored


def _publish(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> WorkflowVersion:
    """Publish the draft or, if `version` is given, publish that version again."""
    kind = data.get("kind", VersionKind.PUBLISHED)
    return versioning.publish(pk, actor=actor, kind=kind, again=data.get("version"))


def _archive(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Workflow:
    """Archive a workflow; with `expected_revision`, only if the workflow has this revision."""
    return versioning.archive_workflow(
        pk,
        actor=actor,
        expected_revision=data.get("expected_revision"),
        reason=data.get("reason", ""),
    )


def _take_over(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Workflow:
    """Copy a workflow from code and return the copy, with `name` and `slug` if they are given."""
    chosen = {key: data[key] for key in ("name", "slug", "reason") if data.get(key)}
    return take_over(pk, actor=actor, **chosen)


def _refuse_archiving(row: Workflow) -> str:
    if row.archived_at:
        return "This workflow is already archived."
    return versioning.locked_to_git(row)


def _refuse_publishing(row: Workflow) -> str:
    if row.origin:
        return f"Its code publishes it: {row.origin_place}."
    return versioning.locked_to_git(row)


def _refuse_own(row: Workflow) -> str:
    return "" if row.origin else "It does not come from code. Edit it directly."


PUBLISH = Operation(name="publish", apply=_publish, needs=Action.AUTHOR, refuse=_refuse_publishing)
ARCHIVE = Operation(name="archive", apply=_archive, needs=Action.DELETE, refuse=_refuse_archiving)
TAKE_OVER = Operation(name="take_over", apply=_take_over, needs=Action.AUTHOR, refuse=_refuse_own)


# One transaction of a test run creates a version of kind `test` and starts it manually, only once.


def start_trial(
    workflow: Workflow,
    payload: Any,
    asked: TrialRequest,
    *,
    actor: Actor,
    definition: Mapping[str, Any] | None = None,
    priority: int | None = None,
) -> WorkflowExecution:
    """Run a definition (by default, the draft), or a part of it, as a test; return the execution.

    Raises the errors of `publish_trial` and `start_execution`.
    """
    payload = stored(workflow.workspace_id, payload)
    with transaction.atomic():
        version = publish_trial(workflow.pk, definition, asked, actor=actor)
        return start_execution(
            workflow, payload, actor=actor, priority=priority, trial=version
        ).execution
