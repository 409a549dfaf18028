"""Start executions from a project's own code, in the caller's transaction where one is open."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from executions.access.actor import Actor
from executions.errors import NotFound
from executions.models import Workflow
from executions.triggers.handle import Handle
from executions.triggers.start import start_batch, start_execution

ACTOR = Actor.system("code")
MOST = 1_000


def start_from_code(
    workflow_id: UUID,
    payload: Any,
    *,
    key: str | None = None,
    priority: int | None = None,
    version_id: UUID | None = None,
) -> Handle:
    """Start one execution of the latest (or the given) version.

    With a key seen before in this workflow, the handle is of the earlier execution.
    Raises as `start_execution`, and NotFound for an unknown workflow or version.
    """
    started = start_execution(
        _workflow(workflow_id),
        payload,
        actor=ACTOR,
        priority=priority,
        version=version_id,
        idempotency_key=key,
    )
    return Handle(started.execution.pk)


def start_many_from_code(
    workflow_id: UUID,
    payloads: Sequence[Any],
    *,
    priority: int | None = None,
    version_id: UUID | None = None,
) -> list[Handle]:
    """Start one execution a payload, at most 1,000, all or none; in the payloads' order.

    Raises ValueError for more, else as `start_from_code`.
    """
    if len(payloads) > MOST:
        raise ValueError(
            f"{len(payloads)} payloads; at most {MOST} start in one transaction. Start them in "
            "parts."
        )
    if not payloads:
        return []
    executions = start_batch(
        _workflow(workflow_id), payloads, actor=ACTOR, priority=priority, version=version_id
    )
    return [Handle(execution.pk) for execution in executions]


def _workflow(workflow_id: UUID) -> Workflow:
    found = Workflow.objects.defer("definition", "description").filter(pk=workflow_id).first()
    if found is None:
        raise NotFound(f"There is no workflow {workflow_id}.")
    return found
