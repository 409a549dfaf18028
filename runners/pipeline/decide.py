"""Decide how to record a unit that ran.

This module is pure: it uses no database, clock or randomness.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from runners.failures import retry
from runners.states import ErrorType

if TYPE_CHECKING:
    from runners.failures.classification import Failure
    from runners.segment.state import SegmentState
    from runners.segment.work import Unit, Work

RETRIED = (ErrorType.TRANSIENT, ErrorType.TIMEOUT)


class Ending(StrEnum):
    """The ways in which a unit can be recorded."""

    RECORD = "record"
    """The unit succeeded; one statement records it, without the execution's lock."""
    RECORD_LOCKED = "record locked"
    """The unit succeeded; the execution's lock is needed, for example to find the next steps."""
    RECORD_LAST = "record last"
    """The unit succeeded and was the last; the execution ends in the same round trip."""
    SLEEP = "sleep"
    """The unit's step begins a wait, for example for a timer or an event."""
    RETRY = "retry"
    """The unit failed; its step is retried after `delay` seconds."""
    HANDLE_ERROR = "handle error"
    """The unit failed permanently; an `error` edge or the surrounding container handles this."""
    DEAD_LETTER = "dead letter"
    """The unit failed permanently, and nothing handles the failure."""


@dataclass(frozen=True, slots=True)
class RecordDecision:
    """The decision about a unit; only RETRY sets `delay` (seconds)."""

    ending: Ending
    delay: float = 0.0


def decide(
    state: "SegmentState", work: "Work", unit: "Unit", *, random: float, checkpoint: bool
) -> RecordDecision:
    """Decide how to record a unit, from this worker's state.

    `random` (0 to 1) spreads retries. `checkpoint` requests a checkpoint, which needs the lock.
    """
    if unit.failure is not None:
        return _of_failure(state, work, unit.failure, random)
    if unit.wait is not None:
        return RecordDecision(Ending.SLEEP)
    if checkpoint or unit.writes_variables:
        return RecordDecision(Ending.RECORD_LOCKED)
    if ends_execution(state, unit):
        return RecordDecision(Ending.RECORD_LAST)
    if needs_lock(state, unit):
        return RecordDecision(Ending.RECORD_LOCKED)
    return RecordDecision(Ending.RECORD)


def _of_failure(
    state: "SegmentState", work: "Work", failure: "Failure", random: float
) -> RecordDecision:
    late = failure.error_type is ErrorType.TIMEOUT
    if failure.error_type in RETRIED and (work.step.retry.timeouts or not late):
        delay = retry.delay(
            work.step.retry,
            work.attempt - work.budget + 1,
            random=random,
            retry_after=failure.retry_after,
        )
        if delay is not None:
            return RecordDecision(Ending.RETRY, delay)
    if state.graph.tasks[work.step.task].handles_error or state.graph.guarded:
        return RecordDecision(Ending.HANDLE_ERROR)
    return RecordDecision(Ending.DEAD_LETTER)


def ends_execution(state: "SegmentState", unit: "Unit") -> bool:
    """Return whether this worker knows that every task of the workflow has ended.

    Return False if the output may read variables, because these can change until the execution is
    locked.
    """
    graph = state.context.version.graph
    return (
        state.graph is graph
        and state.settled
        and not state.resumed
        and not state.frontier.ready
        and unit.broken is None
        and not (graph.variables and graph.output is not None)
    )


def needs_lock(state: "SegmentState", unit: "Unit") -> bool:
    """Return whether, unknown to this worker, a join may be ready or the execution may be over."""
    if state.resumed:
        return True
    frontier = state.frontier
    graph = state.graph
    unfinished = [graph.steps.task_of[index] for index in frontier.ready]
    if unit.broken is not None:
        unfinished.append(unit.broken.step.task)
    # The join is checked later, by a chord's body or by this worker after the pack's last segment.
    later = state.context.header or (state.pack is not None and len(state.pack.left) > 0)
    if not unfinished:
        return not later or not frontier.unsettled
    if later:
        return False
    waiting = set(unfinished)
    return any(
        not any(
            edge.source in waiting
            for edge in graph.tasks[join].incoming
            if edge.source not in state.outcomes
        )
        for join in frontier.unsettled
    )
