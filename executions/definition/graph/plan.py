"""Plan the next steps of an execution from the states of all its steps.

This module does no I/O. `plan` needs the facts of all steps. `settle` and `decide` need only the
outcomes that a worker knows when it completes a step.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from executions.definition.graph.model import Graph, Task

# Decide from outcomes which tasks are ready and which are skipped. No I/O.
#
# `outcomes` maps a task's index to its result: `success`, the outcome of a branch task, `error` if
# an error edge was taken, or SKIPPED. A task without an entry has not ended, or was not looked up.


SKIPPED = "skipped!"  # task IDs and outcomes cannot contain an exclamation mark


class Readiness(Enum):
    """The readiness of a task that has not started."""

    READY = "ready"
    SKIP = "skip"
    UNSETTLED = "unsettled"


def readiness(task: Task, outcomes: Mapping[int, str]) -> Readiness:
    """Return the readiness of one task.

    It is UNSETTLED if the source of an incoming edge has no outcome, READY if enough edges are
    taken, otherwise SKIP. An edge is taken if its `on` equals the source's outcome. `join: any`
    needs one taken edge; `join: all` needs every edge. Tasks without incoming edges are ready.
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
    """The tasks that are ready, skipped or unsettled, now that some tasks have ended."""

    ready: list[int] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)
    unsettled: list[int] = field(default_factory=list)


def settle(graph: Graph, outcomes: dict[int, str], ended: Iterable[int]) -> Settlement:
    """Follow the edges out of `ended`, and skip tasks that can no longer run.

    Adds the skipped tasks to `outcomes`. `unsettled` lists the tasks with an incoming edge whose
    source is not in `outcomes`: the caller must look that source up, or wait for it. Each task is
    listed once.
    """
    return decide(
        graph, outcomes, [edge.target for task in ended for edge in graph.tasks[task].outgoing]
    )


def decide(graph: Graph, outcomes: dict[int, str], candidates: Iterable[int]) -> Settlement:
    """Sort the candidates, and the tasks after skipped ones, into ready, skipped and unsettled.

    Tasks with an outcome are ignored. Adds the skipped tasks to `outcomes`.
    """
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


class StepStatus(Enum):
    """The state of a step's newest attempt, according to the rows."""

    LIVE = "live"
    DONE = "done"
    FAILED_OVER = "failed over"  # failed permanently, and its error edge was taken
    SKIPPED = "skipped"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class StepFact:
    """A step's status and, if it has ended, its outcome."""

    status: StepStatus
    outcome: str = ""


@dataclass(slots=True)
class Plan:
    """The steps to start, tasks to skip, dead steps, blocked tasks, and whether a step is live."""

    start: list[int] = field(default_factory=list)
    skip: list[int] = field(default_factory=list)
    live: bool = False
    dead: list[int] = field(default_factory=list)
    blocked: list[int] = field(default_factory=list)

    @property
    def finished(self) -> bool:
        """Return whether no step is live and none can start."""
        return not self.live and not self.start


def task_outcomes(graph: Graph, facts: Mapping[int, StepFact]) -> dict[int, str]:
    """Return the outcome of each ended task, from its steps' facts."""
    outcomes: dict[int, str] = {}
    for index, fact in facts.items():
        task = graph.steps.task_of[index]
        if fact.status is StepStatus.SKIPPED:
            outcomes[task] = SKIPPED
        elif fact.status is StepStatus.FAILED_OVER:
            outcomes[task] = "error"
        elif fact.status is StepStatus.DONE and graph.steps.following[index] is None:
            outcomes[task] = fact.outcome or "success"
    return outcomes


def plan(graph: Graph, facts: Mapping[int, StepFact]) -> Plan:
    """Return the plan for the facts of all steps (a step without a fact has no run).

    The plan starts the steps whose task is ready, or whose predecessor in the task's chain is done.
    It skips the tasks to which too few taken edges lead. If no step is live and none can start,
    `blocked` are the tasks that wait for a dead step or can never start.
    """
    result = Plan()
    outcomes = task_outcomes(graph, facts)
    touched = {graph.steps.task_of[index] for index in facts}
    for index, fact in facts.items():
        if fact.status is StepStatus.LIVE:
            result.live = True
        elif fact.status is StepStatus.DEAD:
            result.dead.append(index)
        elif fact.status is StepStatus.DONE:
            following = graph.steps.following[index]
            if following is not None and following not in facts:
                result.start.append(following)
    for number in graph.order:
        if number in outcomes or number in touched:
            continue
        task = graph.tasks[number]
        verdict = readiness(task, outcomes)
        if verdict is Readiness.READY:
            result.start.append(task.steps[0])
        elif verdict is Readiness.SKIP:
            outcomes[number] = SKIPPED
            result.skip.append(number)
        else:
            result.blocked.append(number)
    result.dead.sort()
    return result
