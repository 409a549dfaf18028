"""Which tasks are ready, which are skipped: pure decisions from outcomes.

`outcomes` maps a task's index to what it ended with: `success`, a gate's outcome, `error` where
an error edge was taken, or SKIPPED. A task that is not in it has not ended, or nobody looked.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from executions.definition.graph.model import Graph, Task

SKIPPED = "skipped!"  # no task id or outcome may hold an exclamation mark


class Readiness(Enum):
    """What is known of a task that has not started."""

    READY = "ready"
    SKIP = "skip"
    UNSETTLED = "unsettled"


def readiness(task: Task, outcomes: Mapping[int, str]) -> Readiness:
    """Decide one task: ready when every edge into it is settled and enough were taken.

    An edge is taken when its `on` equals its source's outcome. `join: any` wants one taken edge,
    `join: all` every one. Tasks without incoming edges are ready.
    """
    taken = 0
    for edge in task.incoming:
        outcome = outcomes.get(edge.source)
        if outcome is None:
            return Readiness.UNSETTLED
        taken += outcome == edge.on
    wanted = len(task.incoming) if task.join == "all" else min(1, len(task.incoming))
    return Readiness.READY if taken >= wanted else Readiness.SKIP


@dataclass(slots=True)
class Settlement:
    """What follows from some tasks having ended."""

    ready: list[int] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    unsettled: list[int] = field(default_factory=list)


def settle(graph: Graph, outcomes: dict[int, str], ended: Iterable[int]) -> Settlement:
    """Follow the edges out of `ended`, skipping in turn what can no longer run.

    Adds the skipped tasks to `outcomes`. `unsettled` lists the tasks with an edge whose source
    is not in `outcomes`: the caller must look that source up, or wait for it. Each task is
    listed once.
    """
    return decide(
        graph, outcomes, [edge.target for task in ended for edge in graph.tasks[task].outgoing]
    )


def decide(graph: Graph, outcomes: dict[int, str], candidates: Iterable[int]) -> Settlement:
    """As `settle`, for given tasks that have not started, and for what skipping them entails."""
    result = Settlement()
    decided: set[int] = set()
    unsettled: dict[int, None] = {}
    frontier = deque(candidates)
    while frontier:
        target = frontier.popleft()
        if target in decided or target in outcomes:
            continue
        task = graph.tasks[target]
        verdict = readiness(task, outcomes)
        if verdict is Readiness.UNSETTLED:
            unsettled[target] = None
            continue
        decided.add(target)
        unsettled.pop(target, None)
        if verdict is Readiness.READY:
            result.ready.append(target)
        else:
            outcomes[target] = SKIPPED
            result.skipped.append(target)
            frontier.extend(edge.target for edge in task.outgoing)
    result.unsettled = list(unsettled)
    return result
