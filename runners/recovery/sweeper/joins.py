"""Executions with a step that runs long are planned now and then.

A chord's body may be lost while a sibling of the chord runs on: nothing else would look at the
join before that sibling ends.
"""

from runners import statements
from runners.planning import plan_execution
from runners.recovery.duties import each

BATCH = 50


def sweep() -> int:
    """Plan some of them, drawn by chance; returns how many had something to start."""
    found = statements.fetch("long_running", {"batch": BATCH})
    return sum(
        each(f"execution {execution_id}", plan_execution.catch_up, execution_id)
        for (execution_id,) in found
    )
