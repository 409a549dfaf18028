"""Checkpoints of executions that ended are deleted when their time is over."""

from executions import environment as env
from executions.database import statements

BATCH = 1_000
MOST = 100_000


def retention_hours() -> float:
    """How long checkpoints outlive their execution (CHECKPOINT_RETENTION_HOURS)."""
    return env.number("CHECKPOINT_RETENTION_HOURS", 24)


def expire() -> int:
    """Delete checkpoints of executions that ended so long ago; returns how many, 100,000 at most.

    An execution under way keeps its checkpoints however long it takes, and a fork the one it
    began with.
    """
    count = 0
    while count < MOST:
        found = statements.fetch("expire_checkpoints", {"hours": retention_hours(), "batch": BATCH})
        count += len(found)
        if len(found) < BATCH:
            break
    return count
