"""From the states of all steps to what happens next: the whole-execution plan, pure.

The sweeper and the body of a chord plan with this; a completing step plans with `settle` alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from executions.definition.graph.model import Graph
from executions.definition.graph.readiness import SKIPPED, Readiness, readiness


class StepStatus(Enum):
    """What the rows say of a step's newest attempt."""

    LIVE = "live"
    DONE = "done"
    FAILED_OVER = "failed over"  # failed for good, its error edge was taken
    SKIPPED = "skipped"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class StepFact:
    """A step's status and, where it is done, its outcome."""

    status: StepStatus
    outcome: str = ""


@dataclass(slots=True)
class Plan:
    """What to do: steps to start, tasks to skip; or the end."""

    start: list[int] = field(default_factory=list)
    skip: list[int] = field(default_factory=list)
    live: bool = False
    dead: list[int] = field(default_factory=list)
    blocked: list[int] = field(default_factory=list)

    @property
    def finished(self) -> bool:
        """Nothing runs and nothing can."""
        return not self.live and not self.start


def task_outcomes(graph: Graph, facts: Mapping[int, StepFact]) -> dict[int, str]:
    """The outcome of each task that has ended, from its steps' facts."""
    outcomes: dict[int, str] = {}
    for index, fact in facts.items():
        task = graph.steps.task_of(index)
        if fact.status is StepStatus.SKIPPED:
            outcomes[task] = SKIPPED
        elif fact.status is StepStatus.FAILED_OVER:
            outcomes[task] = "error"
        elif fact.status is StepStatus.DONE and graph.steps.following(index) is None:
            outcomes[task] = fact.outcome or "success"
    return outcomes


def plan(graph: Graph, facts: Mapping[int, StepFact]) -> Plan:
    """What follows from the facts of all steps (a step without a fact has no run).

    Steps whose task is ready, or whose predecessor in the task's chain is done, are to start;
    tasks no taken edge leads to are skipped, in turn. `blocked` are the tasks that wait on a
    dead one, or on nothing at all, when nothing is live and nothing can start.
    """
    result = Plan()
    outcomes = task_outcomes(graph, facts)
    touched = {graph.steps.task_of(index) for index in facts}
    for index, fact in facts.items():
        if fact.status is StepStatus.LIVE:
            result.live = True
        elif fact.status is StepStatus.DEAD:
            result.dead.append(index)
        elif fact.status is StepStatus.DONE:
            following = graph.steps.following(index)
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
