"""What a worker knows of an execution while it carries one of its segments.

Outcomes learned here decide what is next without asking the database, as long as every
predecessor ran in this segment; the rest is left to planning under the execution's lock.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.graph.model import Graph, Step
from executions.graph.readiness import Settlement, decide, settle
from executions.versions import Compiled
from runners import statements
from runners.outcomes import Failure


@dataclass(slots=True)
class Frontier:
    """What followed from the steps that ended since the last record."""

    ready: list[int] = field(default_factory=list)  # step indexes
    skipped: list[int] = field(default_factory=list)  # task indexes
    unsettled: dict[int, None] = field(default_factory=dict)  # task indexes, in order


@dataclass(slots=True)
class Journey:
    """One segment being carried; `segment` is the path of its first step."""

    execution_id: UUID
    version: Compiled
    segment: str
    epoch: int
    priority: int
    started_at: datetime | None
    input: Any
    variables: dict[str, Any]
    prefix: str = ""  # the place of the body that the segment runs in: `refine[2].`
    links: tuple[str, ...] = ()  # segments the Celery chain goes on with
    header: bool = False  # a chord's header: its body plans
    resumed: bool = False  # an earlier holder may have known more
    outcomes: dict[int, str] = field(default_factory=dict)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    chain: dict[int, Any] = field(default_factory=dict)  # outputs of steps inside a task's chain
    frontier: Frontier = field(default_factory=Frontier)
    carried: int = 0
    seconds: float = 0.0
    failure: Failure | None = None
    paused: bool = False

    @property
    def graph(self) -> Graph:
        """The graph being executed."""
        return self.version.graph

    def ended(self, step: Step, outcome: str, outputs: Any, error: Any = None) -> None:
        """Note that a step ended for good, and what follows from it."""
        if step.following is not None and error is None:
            self.chain[step.index] = outputs
            self.frontier.ready.append(step.following)
            return
        task = self.graph.tasks[step.task]
        self.outcomes[task.index] = outcome
        self.results[task.id] = result(outputs, outcome, error)
        self.follow([task.index])

    def follow(self, tasks: list[int]) -> None:
        """Add to the frontier what follows from these tasks having ended."""
        self._extend(settle(self.graph, self.outcomes, tasks))

    def decide_joins(self) -> None:
        """Decide the unsettled joins again, after outcomes of other segments were learned.

        Only they are decided: other followers of the learned tasks are their finishers' business.
        """
        self._extend(decide(self.graph, self.outcomes, list(self.frontier.unsettled)))

    def _extend(self, settlement: Settlement) -> None:
        tasks_of = self.graph.tasks
        self.frontier.ready.extend(tasks_of[index].steps[0] for index in settlement.ready)
        self.frontier.skipped.extend(settlement.skipped)
        for index in settlement.skipped:
            self.results[tasks_of[index].id] = result(None, "skipped")
        for index in settlement.unsettled:
            self.frontier.unsettled[index] = None
        for index in (*settlement.ready, *settlement.skipped):
            self.frontier.unsettled.pop(index, None)

    def learn(self, rows: list[Any]) -> None:
        """Take in results read from the database: (path, state, outcome, outputs, error, type)."""
        graph = self.graph
        for path, state, outcome, outputs, error, error_type in rows:
            step = graph.steps[graph.by_path[path]]
            task = graph.tasks[step.task]
            if state == "SKIPPED":
                self.results[task.id] = result(None, "skipped")
            elif state == "FAILED":
                self.results[task.id] = result(None, "error", failed(error, error_type, path))
            elif step.following is None:
                self.results[task.id] = result(outputs, outcome)
            else:
                self.chain[step.index] = outputs

    def missing(self, step: Step) -> list[str]:
        """The paths of steps whose results this step's templates read and nobody loaded yet."""
        graph = self.graph
        paths = [
            graph.steps[index].path
            for task in step.reads
            if graph.tasks[task].id not in self.results
            for index in graph.tasks[task].steps
        ]
        if step.reads_previous and step.previous is not None and step.previous not in self.chain:
            paths.append(graph.steps[step.previous].path)
        return paths

    def scope(self, step: Step, attempt: int) -> dict[str, Any]:
        """What the step's templates may name; loads what is missing, in one query."""
        paths = self.missing(step)
        if paths:
            self.learn(
                statements.fetch("results", {"execution": self.execution_id, "reads": paths})
            )
        return {
            "input": self.input,
            "vars": self.variables,
            "tasks": self.results,
            "previous": None if step.previous is None else self.chain.get(step.previous),
            "execution": self.described(attempt),
        }

    def described(self, attempt: int) -> dict[str, Any]:
        """The execution as templates see it."""
        return {
            "id": str(self.execution_id),
            "startedAt": self.started_at.isoformat() if self.started_at else None,
            "attempt": attempt,
            "workflow": self.graph.name,
        }


def result(outputs: Any, outcome: str, error: Any = None) -> dict[str, Any]:
    """A task as templates see it."""
    return {"output": outputs, "outcome": outcome, "error": error, "history": []}


def failed(message: str, error_type: str, path: str) -> dict[str, str]:
    """A task's error as templates see it."""
    return {"message": message, "type": error_type, "step": path}


def reads_of(graph: Graph, step: Step) -> list[str]:
    """The paths of all steps whose results a step's templates read."""
    paths = [graph.steps[i].path for task in step.reads for i in graph.tasks[task].steps]
    if step.reads_previous and step.previous is not None:
        paths.append(graph.steps[step.previous].path)
    return paths
