"""The same once more: a new execution of the same version with the same input."""

from uuid import UUID

from django.db import transaction

from executions.public.access import Actor, record
from executions.public.errors import NotFound
from executions.public.models import WorkflowExecution
from executions.public.starting import Branch, start_execution


def replay(execution_id: UUID, *, actor: Actor, reason: str = "") -> WorkflowExecution:
    """Start an execution again from its beginning; version, priority and trigger type the same.

    Raises NotFound, and what `start_execution` raises.
    """
    origin = WorkflowExecution.objects.select_related("workflow").filter(pk=execution_id).first()
    if origin is None:
        raise NotFound(f"There is no execution {execution_id}.")
    with transaction.atomic():
        made = start_execution(
            origin.workflow,
            origin.trigger_payload,
            actor=actor,
            trigger_type=origin.trigger_type,
            priority=origin.priority,
            reason=reason,
            branch=Branch(origin_id=origin.pk, version_id=origin.version_id),
        ).execution
        record(
            actor,
            "execution.replay",
            workspace_id=origin.workspace_id,
            object_type="WorkflowExecution",
            object_id=origin.pk,
            reason=reason,
            details={"executionId": str(made.pk)},
        )
    return WorkflowExecution.objects.get(pk=made.pk)
