"""Executions that wait for a place get one when there is one."""

from executions.admission import admit
from runners import statements

BATCH = 100


def sweep() -> int:
    """Admit in every workspace where something waits; returns how many were admitted."""
    found = statements.fetch("waiting_workspaces", {"batch": BATCH})
    return sum(admit(workspace_id) for (workspace_id,) in found)
