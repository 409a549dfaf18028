"""Run a suspect step in a separate process, wait for the step's end, and find a crash's cause."""

import logging
import random
import signal
import threading
from functools import lru_cache

from executions.database import connection
from runners import statements
from runners.conf import config, pool
from runners.isolation.client import End, ServerLost, client
from runners.observability import metrics
from runners.pipeline import end_run
from runners.pipeline.crashes import mend
from runners.pipeline.end_run import Looked
from runners.ports import run_isolated
from runners.process.activity import draining
from runners.process.cause_of_death import LOST, SHORT, SILENT, crash, judge
from runners.process.identity import ended_itself, gone, pid_of, process_identity
from runners.segment.state import SegmentState
from runners.segment.work import LiveRun
from runners.states import RunState

log = logging.getLogger(__name__)

# Time that a process may need in addition to the step, to start, load, render and record.
SLACK_SECONDS = 60.0
# The range, in seconds, of the random delay after which a suspect without a free process is sent
# again.
SOONEST, LATEST = 1.0, 4.0


class ProcessSlots:
    """Limits on isolated processes, and on threads that wait for a process or for its end."""

    def __init__(self, number: int) -> None:
        self.running = threading.BoundedSemaphore(number)
        self.taken = threading.BoundedSemaphore(2 * number)


@lru_cache(maxsize=1)
def places() -> ProcessSlots:
    """Return this worker's slots for isolated processes."""
    return ProcessSlots(config().isolated)


def apart(seen: LiveRun) -> bool:
    """Return whether the run is a suspect or lost and this worker would execute it in a thread."""
    if pool() != "threads":
        return False
    lost = seen.state == RunState.RUNNING and (seen.expired or gone(seen.leased_by))
    return lost or (seen.state == RunState.PENDING and seen.suspect)


@run_isolated.provide
def isolate(state: SegmentState, seen: LiveRun) -> bool:
    """Handle a suspect or lost run (see `carry`); return False if this process may execute it."""
    if not apart(seen):
        return False
    carry(state, seen)
    return True


def carry(state: SegmentState, seen: LiveRun) -> None:
    """Run a suspect in isolation, or postpone it if all slots are taken or the worker is draining.

    A run whose worker was lost is returned to its queue, or fails after too many crashes.
    """
    if seen.state == RunState.RUNNING:
        execution = state.context.execution_id
        mend(execution, seen.id, seen.token, seen.crashes, judge(seen.leased_by))
        return
    if not places().taken.acquire(blocking=False):
        _postpone(state, seen)
        return
    try:
        connection.close()  # return the connection to the pool while the step runs
        with places().running:
            if draining():
                _postpone(state, seen)
            else:
                _carry(state, seen)
    finally:
        places().taken.release()


def _carry(state: SegmentState, seen: LiveRun) -> None:
    limits, execution = config(), state.context.execution_id
    try:
        end = client().run(
            str(execution),
            str(state.context.version.id),
            state.segment,
            state.context.links,
            limits.isolated_memory,
            seen.step.timeout_seconds + 2 * limits.grace + SLACK_SECONDS,
        )
    except (ServerLost, OSError) as error:
        log.warning("run %s was not executed in isolation: %s", seen.id, error)
        metrics.ISOLATED.labels("lost").inc()
        _postpone(state, seen)
        return
    looked = None if end.done else end_run.look(execution, seen.id)
    if looked is None or not (_held_by(end, looked) or _before_claim(seen, end, looked)):
        metrics.ISOLATED.labels("done").inc()
        return
    if end.error:
        metrics.ISOLATED.labels("lost").inc()
        log.warning("run %s was returned by its isolated process: %s", seen.id, end.error)
        mend(execution, seen.id, looked.token, looked.crashes, LOST)
        return
    if end.shortage and not end.shortage.took:
        metrics.ISOLATED.labels("lost").inc()
        log.warning(
            "run %s: its process was killed while other processes used more memory", seen.id
        )
        mend(execution, seen.id, looked.token, looked.crashes, SHORT)
        return
    if ended_itself(looked.leased_by):
        metrics.ISOLATED.labels("lost").inc()
        mend(execution, seen.id, looked.token, looked.crashes, SILENT)
        return
    metrics.ISOLATED.labels("crashed").inc()
    death = crash(cause_of(end))
    mend(execution, seen.id, looked.token, looked.crashes, death)


def cause_of(end: End) -> str:
    """Return a description of how an isolated process ended."""
    if end.shortage:
        return end.shortage.cause
    code = end.code or 0
    if code >= 0:
        return f"its process ended by itself with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    if -code == signal.SIGKILL:
        return f"its process was ended by {name} (out of memory, or killed)"
    return f"its process was ended by {name}"


def _held_by(end: End, looked: Looked) -> bool:
    """Return whether the ended process still leases the run, because its step did not finish."""
    name = process_identity().partition("|")[0]
    return (
        looked.run_state == RunState.RUNNING
        and looked.leased_by.partition("|")[0] == name
        and pid_of(looked.leased_by) == end.pid
    )


def _before_claim(seen: LiveRun, end: End, looked: Looked) -> bool:
    """Return whether the process ended before the claim, while it rendered the step's inputs."""
    untouched = (looked.run_state, looked.token) == (RunState.PENDING, seen.token)
    return untouched and bool(end.code or end.error)


def _postpone(state: SegmentState, seen: LiveRun) -> None:
    """Arrange that the suspect is sent again soon, so that this thread can take other work."""
    metrics.ISOLATED.labels("postponed").inc()
    delay = random.uniform(SOONEST, LATEST)  # noqa: S311 - spreads load, guards nothing
    asked = {"execution": state.context.execution_id, "run": seen.id, "token": seen.token}
    statements.fetch("postpone_suspect", asked | {"delay": delay})
