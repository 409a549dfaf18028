"""Publish and archive a workflow, as users ask for it."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from executions.access import Action
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.models import Workflow, WorkflowVersion
from executions.publishing import versioning
from executions.states import VersionKind


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
