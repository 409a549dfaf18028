"""Live runs of finished executions are ended: there should be none."""

import logging

from runners import statements

log = logging.getLogger(__name__)
BATCH = 100


def sweep() -> int:
    """End them; returns how many executions had any."""
    found = statements.fetch("leftovers", {"batch": BATCH})
    for (execution_id,) in found:
        log.error("execution %s is over, but had live runs; ending them", execution_id)
        statements.fetch("end_live", {"execution": execution_id})
    return len(found)
