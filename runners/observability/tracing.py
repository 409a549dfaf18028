"""Trace a worker's runs: IDs on log lines, a log line for each failure, and spans."""

import logging
from collections.abc import Callable
from functools import partial, wraps
from uuid import UUID

from executions.observability import log_context
from runners.ports import trace_run
from runners.segment.state import SegmentState
from runners.segment.work import Unit, Work

log = logging.getLogger(__name__)

Perform = Callable[[SegmentState, Work], Unit]
MOST_MESSAGE = 500


def observed(perform: Perform) -> Perform:
    """Return `perform`, the function that executes claimed runs, with logs and traces added.

    Log lines contain the run's IDs until the Celery task ends.
    """

    @wraps(perform)
    def seen(state: SegmentState, work: Work) -> Unit:
        log_context.at(partial(ids_of, state, work))
        return trace_run(told, state, work) if trace_run.provided else told(state, work)

    def told(state: SegmentState, work: Work) -> Unit:
        unit = perform(state, work)
        if unit.failure is not None:
            tell_failure(work, unit)
        return unit

    return seen


def ids_of(state: SegmentState, work: Work) -> dict[str, object]:
    """Return a run's fields for log lines."""
    version = state.context.version
    return {
        "execution_id": state.context.execution_id,
        "workflow": version.graph.name,
        "workspace": version.workspace_id,
        "trace_id": state.context.trace_id,
        "run_id": work.run_id,
        "task_id": work.step.task_uuid,
        "step": work.path,
        "attempt": work.attempt,
    }


def tell_failure(work: Work, unit: Unit) -> None:
    """Log one line for a failed attempt. The rows decide whether the step is retried."""
    failure = unit.failure
    assert failure is not None
    log.warning(
        "step %s failed in attempt %s (%s, %s): %s",
        work.path,
        work.attempt,
        failure.error_type.value,
        failure.exception,
        failure.message[:MOST_MESSAGE],
    )


def tell_taken_over(run_id: UUID, path: str, leased_by: str, *, crashed: bool) -> None:
    """Log one line for a run that was taken over from another worker."""
    log.warning(
        "run %s of step %s is taken over from %s, %s",
        run_id,
        path,
        leased_by.partition("|")[0] or "nobody",
        "whose process ended: a crash"
        if crashed
        else ("whose lease expired, or which announced its shutdown"),
    )
