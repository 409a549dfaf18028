"""What is next after a unit ran: decided from what this worker knows, without the database.

One ready step may be gone on with; the others are sent to whoever is free.
"""

from dataclasses import dataclass, field
from uuid import UUID

from uuid6 import uuid7

from executions.definition.graph.model import Step
from runners.conf import config
from runners.dispatch.canvas import fork_of, successor
from runners.failures.classification import Failure
from runners.pipeline.claim_run import attempt_prepare
from runners.segment.inputs import Prepared
from runners.segment.state import SegmentState
from runners.segment.work import Broken, Unit, Work


@dataclass(slots=True)
class NextSteps:
    """What a record adds: one claimed run at most, and pending ones."""

    step: Step | None = None
    run_id: UUID | None = None
    prepared: Prepared | None = None
    failure: Failure | None = None
    pending: list[int] = field(default_factory=list)
    retry: str | None = None


def choose(state: SegmentState, work: Work, broken: Broken | None) -> NextSteps:
    """Which ready step this worker goes on with, and which are sent to others."""
    graph = state.graph
    ready = state.frontier.ready
    if state.hands_over:
        state.frontier.ready = []
        return NextSteps(pending=ready)
    effects = [index for index in ready if not graph.steps[index].inline]
    inline = [index for index in ready if graph.steps[index].inline]
    next_steps = NextSteps(run_id=uuid7())
    if broken is not None:
        next_steps.step, next_steps.prepared, next_steps.failure = (
            broken.step,
            broken.prepared,
            broken.failure,
        )
        next_steps.pending = effects
    elif inline:
        next_steps.step, next_steps.pending = graph.steps[inline[0]], effects
        ready.remove(inline[0])
    elif effects:
        mine = _mine(state, work, effects)
        next_steps.step = None if mine is None else graph.steps[mine]
        next_steps.pending = [index for index in effects if index != mine]
    state.frontier.ready = [index for index in ready if graph.steps[index].inline]
    if next_steps.step is not None and next_steps.prepared is None and next_steps.failure is None:
        next_steps.prepared, next_steps.failure = attempt_prepare(state, next_steps.step, 1)
    return next_steps


def _mine(state: SegmentState, work: Work, effects: list[int]) -> int | None:
    """The effect step to go on with: on this queue, within bounds, no chord's branch.

    With siblings still to be carried only what belongs to the same segment is gone on with.
    """
    limits = config()
    graph = state.graph
    if state.carried >= limits.segment_steps:
        return None
    if state.pack is not None and state.pack.left:
        following = successor(graph, work.step)
        effects = [index for index in effects if following is graph.steps[index]]
    forks = fork_of(graph, effects) if len(effects) > 1 else {}
    branches = {step.index for fork in forks.values() for step in fork}
    for index in effects:
        step = graph.steps[index]
        fits = state.seconds + step.timeout_seconds <= limits.segment_seconds
        if step.queue == work.step.queue and fits and index not in branches:
            return index
    return None


def needs_lock(state: SegmentState, unit: Unit) -> bool:
    """Whether a join may be ready, or the end be reached, without us knowing it."""
    if state.resumed:
        return True
    frontier = state.frontier
    graph = state.graph
    unfinished = [graph.steps[index].task for index in frontier.ready]
    if unit.broken is not None:
        unfinished.append(unit.broken.step.task)
    if not unfinished:
        return not state.context.header or not frontier.unsettled
    if state.context.header:
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
