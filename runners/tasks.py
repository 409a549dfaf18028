"""The Celery tasks. Each task makes one call.

A message only starts the work; the row holds the state.
"""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from executions.messaging import task
from runners.containers import child_executions
from runners.dispatch.messages import TRANSPORT
from runners.errors import LeaseLost, StepFailed
from runners.isolation import run_isolated  # noqa: F401 - provides the port
from runners.observability import metrics
from runners.pipeline import receive
from runners.planning import plan_execution
from runners.waits.events import deliver


@task("runners.run_segment", bind=True, throws=(StepFailed,), **TRANSPORT)
def run_segment(
    self: Any, execution_id: str, version_id: str, segment: str, others: Sequence[str] = ()
) -> None:
    """Run one segment of an execution, and the short sibling segments in the same message."""
    links = tuple(link["args"][2] for link in self.request.chain or ())
    try:
        receive.run_segment(
            UUID(execution_id),
            UUID(version_id),
            segment,
            others=others,
            links=links,
            header=self.request.chord is not None,
        )
    except LeaseLost:
        metrics.FENCED.inc()
        return


@task("runners.run_executions", throws=(StepFailed,), **TRANSPORT)
def run_executions(execution_ids: Sequence[str], version_id: str, segment: str) -> None:
    """Run the same short segment of several executions, one after another."""
    receive.run_executions([UUID(pk) for pk in execution_ids], UUID(version_id), segment)


@task("runners.advance", **TRANSPORT)
def advance(execution_id: str) -> None:
    """Plan an execution from its rows. Every chord has this task as its body."""
    plan_execution.advance(UUID(execution_id))


@task(child_executions.ENDED, **TRANSPORT)
def child_ended(execution_id: str) -> None:
    """Wake the run that waits for a child that has ended."""
    child_executions.wake_parent(UUID(execution_id))


@task(child_executions.LEAVE, **TRANSPORT)
def leave_child(execution_id: str) -> None:
    """Cancel the child of a step that a user moved to the dead-letter queue."""
    child_executions.leave(UUID(execution_id))


@task(child_executions.CANCEL, **TRANSPORT)
def cancel_children(execution_id: str) -> None:
    """Cancel the children that an execution no longer needs."""
    child_executions.cancel_of(UUID(execution_id))


@task("runners.deliver_event", **TRANSPORT)
def deliver_event(event_id: str, stamp: str = "") -> None:
    """Wake the runs that wait for an event; `stamp` is the time of the last progress, or ""."""
    deliver(UUID(event_id), stamp)


@task("runners.sweep_due")
def sweep_due() -> dict[str, int]:
    """Run the duties due every second: due runs, timers, orphaned steps, and compensations."""
    from runners.recovery.sweeper import often

    return often()


@task("runners.sweep")
def sweep() -> dict[str, int]:
    """Run the duties due every five seconds, which handle all other stalled work."""
    from runners.recovery.sweeper import seldom

    return seldom()
