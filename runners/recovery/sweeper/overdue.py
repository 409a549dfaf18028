"""Executions past their deadline end as TIMEOUT."""

from executions import lifecycle
from runners import statements
from runners.recovery.duties import each

BATCH = 100


def sweep() -> int:
    """Time out executions; returns how many."""
    found = statements.fetch("overdue", {"batch": BATCH})
    return sum(
        each(f"overdue execution {execution_id}", lifecycle.time_out, execution_id)
        for (execution_id,) in found
    )
