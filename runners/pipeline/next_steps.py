"""Choose the step this worker runs next, and those sent to others. Pure: no database, no clock.

It knows what this worker knows; what other segments did is planned under the execution's lock.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runners.dispatch.canvas import fork_of, successor

if TYPE_CHECKING:
    from runners.segment.state import SegmentState
    from runners.segment.work import Broken, Work


@dataclass(frozen=True, slots=True)
class SegmentLimits:
    """How much one worker takes on in a segment before it lets others have the rest."""

    steps: int  # with effects
    seconds: float  # the sum of their time limits


@dataclass(frozen=True, slots=True)
class StepSelection:
    """Indexes of steps: the one this worker runs next, those sent to others, those kept in memory.

    Kept are pure steps, which this worker runs after the chosen one.
    """

    step: int | None
    pending: list[int]
    kept: list[int]


def choose(
    state: "SegmentState", work: "Work", broken: "Broken | None", limits: SegmentLimits
) -> StepSelection:
    """Choose from the ready steps; a `broken` one, which failed in memory, goes first."""
    ready, steps = state.frontier.ready, state.graph.steps
    if state.hands_over:
        return StepSelection(None, list(ready), [])
    effects = [index for index in ready if not steps[index].inline]
    inline = [index for index in ready if steps[index].inline]
    if broken is not None:
        return StepSelection(broken.step.index, effects, inline)
    if inline:
        return StepSelection(inline[0], effects, inline[1:])
    mine = _mine(state, work, effects, limits)
    return StepSelection(mine, [index for index in effects if index != mine], [])


def _mine(
    state: "SegmentState", work: "Work", effects: list[int], limits: SegmentLimits
) -> int | None:
    """The effect step to go on with: on this queue, within bounds, no chord's branch.

    With siblings still to be carried only what belongs to the same segment is gone on with.
    """
    graph = state.graph
    if not effects or state.carried >= limits.steps:
        return None
    if state.pack is not None and state.pack.left:
        following = successor(graph, work.step)
        effects = [index for index in effects if following is graph.steps[index]]
    forks = fork_of(graph, effects) if len(effects) > 1 else {}
    branches = {step.index for fork in forks.values() for step in fork}
    for index in effects:
        step = graph.steps[index]
        fits = state.seconds + step.timeout_seconds <= limits.seconds
        if step.queue == work.step.queue and fits and index not in branches:
            return index
    return None
