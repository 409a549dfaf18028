"""Choose the step that this worker runs next, and the steps for other workers.

This module is pure: it reads no clock. It uses only what this worker knows; joins with other
segments are decided under the lock.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from runners.dispatch.canvas import fork_of, successor

if TYPE_CHECKING:
    from runners.segment.state import SegmentState
    from runners.segment.work import Broken, Work


@dataclass(frozen=True, slots=True)
class SegmentLimits:
    """The limits of one worker's segment. Other workers get the steps beyond them."""

    steps: int  # maximum steps with effects
    seconds: float  # maximum sum of their time limits


@dataclass(frozen=True, slots=True)
class StepSelection:
    """Indexes of steps: the step to run next, the steps to send, and the steps to keep in memory.

    The kept steps are pure; this worker runs them after the step to run next.
    """

    step: int | None
    pending: list[int]
    kept: list[int]


def choose(
    state: "SegmentState", work: "Work", broken: "Broken | None", limits: SegmentLimits
) -> StepSelection:
    """Choose which steps to run, send and keep; run a `broken` step first, unless all are sent."""
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
    """Return the index of the next step with effects that fits the queue and the limits, or None.

    Steps with the same join do not qualify. If siblings are left, only `successor`'s step does.
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
