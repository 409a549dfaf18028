"""Decide whether a failed execution may continue immediately."""

from uuid import UUID

from executions.admission import concurrency
from executions.admission.capacity import active, limited, lock_workspace
from executions.models import Tier, WorkflowExecution


def must_wait(execution_id: UUID, workspace_id: UUID) -> bool:
    """Return whether a failed execution must wait for a slot or for its concurrency key.

    Locks the key, and the workspace if its slots are limited. A child execution never waits.
    """
    row = (
        WorkflowExecution.objects.filter(pk=execution_id, parent=None)
        .values_list("workflow_id", "concurrency_key", "concurrency_limit")
        .first()
    )
    if row is None:
        return False
    workflow_id, text, limit = row
    full = _full(workspace_id)
    if text is None:
        return full
    key = concurrency.ConcurrencyKey(workflow_id, text)
    concurrency.lock([key])
    return full or concurrency.uses([key])[key].holders >= (limit or 1)


def _full(workspace_id: UUID) -> bool:
    """Return whether the workspace has no free slot; lock it if its slots are limited."""
    if not limited(workspace_id):
        return False
    lock_workspace(workspace_id)
    ceiling = Tier.objects.get(workspaces=workspace_id).max_concurrent
    return ceiling is not None and active(workspace_id) >= ceiling
