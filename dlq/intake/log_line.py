"""A dead letter's line in the log."""

import logging

from dlq.models import DeadLetterEntry
from executions.observability import log_context

log = logging.getLogger(__name__)


def tell(entry: DeadLetterEntry) -> None:
    """Say that somebody has to look at a step, and at which; its error has a line already."""
    with log_context.bound(execution_id=entry.execution_id, run_id=entry.run_id):
        log.error(
            "dead letter %s: step %s (%s) of execution %s is given up, %s after attempt %s",
            entry.pk,
            entry.step_path,
            entry.module,
            entry.execution_id,
            entry.failure_type,
            entry.attempts,
        )
