"""Executions that wait for a place or a key get it when there is one."""

from uuid import UUID

from executions.admission import capacity
from runners import statements
from runners.recovery.duties import each

WORKSPACES = 100
ROUNDS = 20


def sweep() -> int:
    """Admit in every workspace where something waits; returns how many were admitted."""
    count, after = 0, UUID(int=0)
    while found := statements.fetch("waiting_workspaces", {"after": after, "batch": WORKSPACES}):
        for (workspace_id,) in found:
            count += each(f"admission in workspace {workspace_id}", _admit, workspace_id)
        after = found[-1][0]
    return count


def _admit(workspace_id: UUID) -> int:
    """At most 2,000 at once: the other duties wait meanwhile."""
    count = 0
    for _ in range(ROUNDS):
        admitted = capacity.admit(workspace_id)
        count += admitted
        if admitted < capacity.BATCH:
            break
    return count
