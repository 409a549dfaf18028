"""Give a suspect step a process to itself, wait for its end, and judge that."""

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

# What a process may take beside the step: begin, load, render, record.
SLACK_SECONDS = 60.0
# A suspect for which no process is free comes again after so long, at random within.
SOONEST, LATEST = 1.0, 4.0


class ProcessSlots:
    """So many isolated processes at once, and as many threads that wait for one."""

    def __init__(self, number: int) -> None:
        self.running = threading.BoundedSemaphore(number)
        self.taken = threading.BoundedSemaphore(2 * number)


@lru_cache(maxsize=1)
def places() -> ProcessSlots:
    """This worker's."""
    return ProcessSlots(config().isolated)


def apart(seen: LiveRun) -> bool:
    """Whether a step may not run here: it may end the process, which has other steps in it."""
    if pool() != "threads":
        return False
    lost = seen.state == RunState.RUNNING and (seen.expired or gone(seen.leased_by))
    return lost or (seen.state == RunState.PENDING and seen.suspect)


@run_isolated.provide
def isolate(state: SegmentState, seen: LiveRun) -> bool:
    """Run a suspect in a process of its own; return False where it may run here."""
    if not apart(seen):
        return False
    carry(state, seen)
    return True


def carry(state: SegmentState, seen: LiveRun) -> None:
    """Carry a suspect to its end, or have it sent again later where no process is to spare."""
    if seen.state == RunState.RUNNING:
        mend(seen.id, seen.token, seen.crashes, judge(seen.leased_by))
        return
    if not places().taken.acquire(blocking=False):
        _postpone(seen)
        return
    try:
        connection.close()  # back to the pool while the step runs
        with places().running:
            if draining():
                _postpone(seen)
            else:
                _carry(state, seen)
    finally:
        places().taken.release()


def _carry(state: SegmentState, seen: LiveRun) -> None:
    limits = config()
    try:
        end = client().run(
            str(state.context.execution_id),
            str(state.context.version.id),
            state.segment,
            state.context.links,
            limits.isolated_memory,
            seen.step.timeout_seconds + 2 * limits.grace + SLACK_SECONDS,
        )
    except (ServerLost, OSError) as error:
        log.warning("run %s was not carried apart: %s", seen.id, error)
        metrics.ISOLATED.labels("lost").inc()
        _postpone(seen)
        return
    looked = None if end.done else end_run.look(seen.id)
    if looked is None or not (_held_by(end, looked) or _before_claim(seen, end, looked)):
        metrics.ISOLATED.labels("done").inc()
        return
    if end.error:
        metrics.ISOLATED.labels("lost").inc()
        log.warning("run %s was given back by its own process: %s", seen.id, end.error)
        mend(seen.id, looked.token, looked.crashes, LOST)
        return
    if end.shortage and not end.shortage.took:
        metrics.ISOLATED.labels("lost").inc()
        log.warning("run %s: its process was killed while others had taken the memory", seen.id)
        mend(seen.id, looked.token, looked.crashes, SHORT)
        return
    if ended_itself(looked.leased_by):
        metrics.ISOLATED.labels("lost").inc()
        mend(seen.id, looked.token, looked.crashes, SILENT)
        return
    metrics.ISOLATED.labels("crashed").inc()
    death = crash(cause_of(end))
    mend(seen.id, looked.token, looked.crashes, death)


def cause_of(end: End) -> str:
    """How an isolated process ended, in words."""
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
    """Whether the run is still that process's, which is no more: its step did not end."""
    name = process_identity().partition("|")[0]
    return (
        looked.run_state == RunState.RUNNING
        and looked.leased_by.partition("|")[0] == name
        and pid_of(looked.leased_by) == end.pid
    )


def _before_claim(seen: LiveRun, end: End, looked: Looked) -> bool:
    """Whether the process ended before it held the run, while the step's inputs were rendered."""
    untouched = (looked.run_state, looked.token) == (RunState.PENDING, seen.token)
    return untouched and bool(end.code or end.error)


def _postpone(seen: LiveRun) -> None:
    """Have the suspect sent again in a moment; its message is answered, its thread free."""
    metrics.ISOLATED.labels("postponed").inc()
    delay = random.uniform(SOONEST, LATEST)  # noqa: S311 - spreads load, guards nothing
    statements.fetch("postpone", {"run": seen.id, "token": seen.token, "delay": delay})
