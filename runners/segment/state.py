"""How far a worker is with the segment it runs. Only the pipeline changes it.

Outcomes learned here decide what is next without asking the database, as long as every
predecessor ran in this segment; the rest is left to planning under the execution's lock.
"""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from executions.definition.graph.model import Graph, Passed, Step
from executions.definition.graph.places import Place
from executions.definition.graph.plan import Settlement, decide, settle
from executions.definition.versions import Compiled
from runners.failures.classification import Failure
from runners.segment.context import SegmentContext
from runners.segment.packs import ExecutionPack, SiblingPack
from runners.segment.template_data import TemplateData, result


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment to run next; `batch` are items of a pure map that come with it."""

    path: str
    queue: str
    name: str
    batch: tuple[int, ...] = ()


@dataclass(slots=True)
class Frontier:
    """What followed from the steps that ended since the last record."""

    ready: list[int] = field(default_factory=list)  # step indexes
    skipped: list[int] = field(default_factory=list)  # task indexes
    unsettled: dict[int, None] = field(default_factory=dict)  # task indexes, in order


@dataclass(slots=True)
class SegmentState:
    """A segment under way; `segment` is the path of its first step.

    It runs in one place at a time: the workflow itself, or one turn of a container's body. The
    items of a pure map are run many at a time: `batch` are those still to come, `ended_turns` those
    done in memory and not yet taken off the map's counters.
    """

    context: SegmentContext
    data: TemplateData
    segment: str
    resumed: bool = False  # an earlier holder may have known more than the rows say
    stays: bool = True  # whether this worker may continue with more
    hands_over: bool = False  # whatever follows is sent to workers
    outcomes: dict[int, str] = field(default_factory=dict)  # by task index
    frontier: Frontier = field(default_factory=Frontier)
    carried: int = 0  # steps with effects that this worker took on
    seconds: float = 0.0  # the sum of their time limits
    failure: Failure | None = None  # how the last step failed
    paused: bool = False  # as the execution was when it was locked
    left_to_worker: bool = False  # planning needs a template that may not be rendered here
    passed: Passed = field(default_factory=Passed)  # since the last checkpoint
    batch: list[int] = field(default_factory=list)
    ended_turns: list[int] = field(default_factory=list)
    next_segment: Segment | None = None  # this worker runs it next, without a message
    pack: SiblingPack | None = None  # the siblings that came with the segment
    executions: "ExecutionPack[SegmentState] | None" = None  # those that came with this one
    owes_join: bool = False  # a join was left to the end of the pack
    received_at: float = 0.0  # of `time.perf_counter()`; 0 once it was measured

    @property
    def place(self) -> Place:
        """The workflow itself, or the turn of a container's body."""
        return self.data.place

    @property
    def graph(self) -> Graph:
        """The workflow's graph, or a body's."""
        return self.data.place.graph

    @property
    def prefix(self) -> str:
        """The path of the graph's steps begins with it: `refine[2].`."""
        return self.data.place.prefix

    def path(self, step: Step) -> str:
        """Return a step's path in the execution."""
        return self.data.place.prefix + step.path

    def ended(self, step: Step, outcome: str, outputs: Any, error: Any = None) -> None:
        """Note that a step ended for good, and what follows from it."""
        if step.following is not None and error is None:
            self.data.chain[step.index] = outputs
            self.frontier.ready.append(step.following)
            return
        task = self.graph.tasks[step.task]
        self.outcomes[task.index] = outcome
        self.data.results[task.id] = result(outputs, outcome, error)
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
            self.data.results[tasks_of[index].id] = result(None, "skipped")
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
        self.data.enter(self.place.turn(index))
        self.outcomes = {}
        self.frontier = Frontier(
            ready=[self.graph.tasks[task].steps[0] for task in self.graph.roots]
        )

    def turn_to(self, step: Step) -> None:
        """Turn to the sibling segment that begins with this step, of which nothing ran yet."""
        self.segment = self.path(step)
        self.frontier = Frontier()
        self.carried, self.seconds = 1, step.timeout_seconds


def from_rows(
    execution_id: UUID,
    version: Compiled,
    epoch: int,
    priority: int,
    *,
    place: Place | None = None,
    segment: str = "",
) -> SegmentState:
    """Return the state of an execution that no worker holds: planning starts from its rows."""
    context = SegmentContext(execution_id, version, epoch, priority)
    data = TemplateData(context, place or Place("", version.graph))
    return SegmentState(context, data, segment, resumed=True, stays=False)
