"""What a worker knows of an execution while it carries one of its segments.

Outcomes learned here decide what is next without asking the database, as long as every
predecessor ran in this segment; the rest is left to planning under the execution's lock.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from executions.definition.graph.model import Graph, Step
from executions.definition.graph.places import Place, split
from executions.definition.graph.readiness import Settlement, decide, settle
from executions.definition.templating.secrets import REFERENCES
from executions.definition.versions import Compiled
from executions.history.due import Passed
from runners.failures.classification import Failure
from runners.segment import template_scope

if TYPE_CHECKING:
    from runners.segment.run_pack import Pack


@dataclass(slots=True)
class Frontier:
    """What followed from the steps that ended since the last record."""

    ready: list[int] = field(default_factory=list)  # step indexes
    skipped: list[int] = field(default_factory=list)  # task indexes
    unsettled: dict[int, None] = field(default_factory=dict)  # task indexes, in order


@dataclass(slots=True)
class Journey:
    """One segment being carried; `segment` is the path of its first step.

    It runs in one place at a time: the workflow itself, or one turn of a container's body. A pure
    map's items are carried many at a time: `batch` are the items still to come, `ended` those done
    in memory and not yet taken off the map's counters.
    """

    execution_id: UUID
    version: Compiled
    place: Place
    segment: str
    queue: str  # this worker serves it, and may go on with work of it by itself
    epoch: int
    priority: int
    started_at: datetime | None
    input: Any
    variables: dict[str, Any]
    links: tuple[str, ...] = ()  # segments the Celery chain goes on with
    header: bool = False  # a chord's header: its body plans
    resumed: bool = False  # an earlier holder may have known more
    outcomes: dict[int, str] = field(default_factory=dict)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    outer: dict[str, dict[str, Any]] = field(default_factory=dict)  # of the bodies around, by id
    items: dict[int, Any] = field(default_factory=dict)  # of the nearest map, by index
    last: dict[str, Any] | None = None  # what `loop.previous` is, once loaded
    histories: dict[str, list[Any]] = field(default_factory=dict)
    chain: dict[int, Any] = field(default_factory=dict)  # outputs of steps inside a task's chain
    frontier: Frontier = field(default_factory=Frontier)
    carried: int = 0
    seconds: float = 0.0
    failure: Failure | None = None
    paused: bool = False
    passed: Passed = field(default_factory=Passed)  # since the last checkpoint
    batch: list[int] = field(default_factory=list)
    ended_turns: list[int] = field(default_factory=list)
    onward: "Segment | None" = None  # to be carried next by this worker, without a message
    stays: bool = True  # whether this worker may go on with more
    trace_id: str = ""  # of the execution; where it was loaded
    principal_id: int | None = None  # the user who started it, or its root; where it was loaded
    pack: "Pack | None" = None  # the siblings that came with the segment
    hands_over: bool = False  # nobody carries it on: all that follows is sent to workers
    taken_up: float = 0.0  # when the worker took it up, of `time.perf_counter()`
    left_to_worker: bool = False  # planning needs a template that may not be rendered here

    @property
    def graph(self) -> Graph:
        """The graph being executed: the workflow's, or a body's."""
        return self.place.graph

    @property
    def prefix(self) -> str:
        """Where the graph's steps stand: `refine[2].`."""
        return self.place.prefix

    def path(self, step: Step) -> str:
        """A step's path in the execution."""
        return self.place.prefix + step.path

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

    @property
    def settled(self) -> bool:
        """Whether every task of this place is known to have ended or been skipped."""
        return len(self.outcomes) == len(self.graph.tasks)

    def enter(self, index: int) -> None:
        """Turn to another item of the same map; what was known of the last one is forgotten."""
        self.place = self.place.turn(index)
        self.outcomes, self.results, self.chain = {}, {}, {}
        self.frontier = Frontier(
            ready=[self.graph.tasks[task].steps[0] for task in self.graph.roots]
        )

    def turn_to(self, step: Step) -> None:
        """Turn to the sibling segment that begins with this step, of which nothing ran yet."""
        self.segment = self.path(step)
        self.frontier = Frontier()
        self.carried, self.seconds = 1, step.timeout_seconds

    def learn(self, rows: list[Any]) -> None:
        """Take in results read from the database: (path, state, outcome, outputs, error, type)."""
        around: list[tuple[int, str, dict[str, Any]]] = []
        for path, state, outcome, outputs, error, error_type in rows:
            prefix, inner = split(path)
            place = self.place if prefix == self.prefix else self._around(prefix)
            steps, index = place.graph.steps, place.graph.by_path[inner]
            task = place.graph.tasks[steps.task_of(index)]
            if state == "SKIPPED":
                found = result(None, "skipped")
            elif state == "FAILED":
                found = result(None, "error", failed(error, error_type, path))
            elif steps.following(index) is None:
                found = result(outputs, outcome)
            else:
                if place is self.place:
                    self.chain[index] = outputs
                continue
            if place is self.place:
                self.results[task.id] = found
            else:
                around.append((len(prefix), task.id, found))
        # A name means the innermost task that has it.
        for _, name, found in sorted(around, key=lambda entry: entry[0]):
            self.outer[name] = found

    def _around(self, prefix: str) -> Place:
        place = self.place
        while place.prefix != prefix and place.outer is not None:
            place = place.outer
        return place

    def scope(self, step: Step, attempt: int) -> dict[str, Any]:
        """What the step's templates may name; loads what is missing."""
        template_scope.complete(self, step)
        tasks = self.results
        if self.outer:
            tasks = self.outer | tasks
        if step.histories:
            tasks = tasks | template_scope.with_histories(self, step)
        if step.callbacks:
            tasks = tasks | template_scope.with_callback_urls(self, step, tasks)
        scope = {
            "input": self.input,
            "vars": self.variables,
            "tasks": tasks,
            "previous": None if step.previous is None else self.chain.get(step.previous),
            "execution": self.described(attempt),
            "secrets": REFERENCES,
        }
        if self.place.outer is not None:
            scope |= template_scope.turn(self)
        return scope

    def described(self, attempt: int) -> dict[str, Any]:
        """The execution as templates see it."""
        return {
            "id": str(self.execution_id),
            "startedAt": self.started_at.isoformat() if self.started_at else None,
            "attempt": attempt,
            "workflow": self.graph.name,
        }


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment to be carried next; `batch` are items of a pure map that come with it."""

    path: str
    queue: str
    name: str
    batch: tuple[int, ...] = ()


def result(outputs: Any, outcome: str, error: Any = None) -> dict[str, Any]:
    """A task as templates see it."""
    return {"output": outputs, "outcome": outcome, "error": error, "history": []}


def failed(message: str, error_type: str, path: str) -> dict[str, str]:
    """A task's error as templates see it."""
    return {"message": message, "type": error_type, "step": path}
