"""Running executions with nothing in flight: a chord's body was lost, or a planner died."""

import logging

from runners import statements
from runners.planning import plan_execution
from runners.recovery.duties import each

log = logging.getLogger(__name__)
BATCH = 100


def sweep() -> int:
    """Plan stalled executions from their rows; returns how many."""
    count = 0
    for (execution_id,) in statements.fetch("stalled", {"batch": BATCH}):
        log.warning("execution %s had nothing in flight; planning it", execution_id)
        count += each(f"stalled execution {execution_id}", plan_execution.advance, execution_id)
    return count
