"""A worker's progress in the segment that it runs.

If every predecessor ran in this segment, the outcomes known here decide the next step without a
query. Otherwise, planning under the execution's lock decides.
"""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from executions.definition.graph.model import Graph, Passed, Step
from executions.definition.graph.places import Place
from executions.definition.graph.plan import Settlement, decide, settle
from executions.definition.versions import Compiled
from executions.sealing import SealBroken
from runners.failures.classification import Failure
from runners.segment.context import SegmentContext
from runners.segment.packs import ExecutionPack, SiblingPack
from runners.segment.template_data import TemplateData, result


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment to run next; `batch` holds more items of a pure map that the worker also runs."""

    path: str
    queue: str
    name: str
    batch: tuple[int, ...] = ()


@dataclass(slots=True)
class Frontier:
    """The ready steps, skipped tasks and open joins that resulted since the last record."""

    ready: list[int] = field(default_factory=list)  # step indexes
    skipped: list[int] = field(default_factory=list)  # task indexes
    unsettled: dict[int, None] = field(default_factory=dict)  # task indexes, in order


@dataclass(slots=True)
class SegmentState:
    """A running segment; `segment` is the path of its first step.

    The segment runs in one place at a time: the workflow, one iteration of a container's body, or
    undo steps. A worker can run several items of a pure map, one after another: `batch` holds the
    remaining items. `ended_turns` are the items that ended in memory but that the map's counters
    still contain.
    """

    context: SegmentContext
    data: TemplateData
    segment: str
    resumed: bool = False  # an earlier holder may have known more than the rows
    stays: bool = True  # whether this worker may continue with further steps
    hands_over: bool = False  # whether all following steps are sent to workers
    outcomes: dict[int, str] = field(default_factory=dict)  # outcomes by task index
    frontier: Frontier = field(default_factory=Frontier)
    carried: int = 0  # number of steps with effects that this worker ran
    seconds: float = 0.0  # sum of their time limits
    failure: Failure | None = None  # how the last step failed
    paused: bool = False  # whether the execution was paused when it was locked
    left_to_worker: bool = False  # planning needs a template that this process must not render
    passed: Passed = field(default_factory=Passed)  # the changes since the last checkpoint
    batch: list[int] = field(default_factory=list)
    ended_turns: list[int] = field(default_factory=list)
    next_segment: Segment | None = None  # the segment that this worker runs next, without a message
    pack: SiblingPack | None = None  # the siblings in this segment's message
    executions: "ExecutionPack[SegmentState] | None" = None  # the executions in the same message
    owes_join: bool = False  # the check of a join was postponed to the end of the pack
    # The error if a payload cannot be opened; then no step can run.
    unreadable: SealBroken | None = None
    # The workflow's output reads stored values: load them and plan again.
    loads_output: bool = False
    received_at: float = 0.0  # value of `time.perf_counter()` at receipt; 0 after it was measured

    @property
    def place(self) -> Place:
        """Return the segment's place: the workflow, an iteration of a body, or undo steps."""
        return self.data.place

    @property
    def graph(self) -> Graph:
        """Return the graph of the workflow or of a body."""
        return self.data.place.graph

    @property
    def prefix(self) -> str:
        """Return the prefix of all step paths in this place, such as `refine[2].`."""
        return self.data.place.prefix

    def path(self, step: Step) -> str:
        """Return a step's path in the execution."""
        return self.data.place.prefix + step.path

    def ended(self, step: Step, outcome: str, outputs: Any, error: Any = None) -> None:
        """Record that a step has ended, and add the steps that follow to the frontier."""
        if step.following is not None and error is None:
            self.data.chain[step.index] = outputs
            self.frontier.ready.append(step.following)
            return
        task = self.graph.tasks[step.task]
        self.outcomes[task.index] = outcome
        self.data.results[task.id] = result(outputs, outcome, error)
        self.follow([task.index])

    def follow(self, tasks: list[int]) -> None:
        """Add the steps that follow these ended tasks to the frontier."""
        self._extend(settle(self.graph, self.outcomes, tasks))

    def decide_joins(self) -> None:
        """Decide the open joins again, now that outcomes of tasks in other segments are known.

        Only joins are decided here: other tasks that follow those tasks belong to the workers that
        ended them.
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
        """Return whether this worker knows that every task of this place ended or was skipped."""
        return len(self.outcomes) == len(self.graph.tasks)

    def enter(self, index: int) -> None:
        """Switch to another item of the same map, and forget the data of the previous item."""
        self.data.enter(self.place.turn(index))
        self.outcomes = {}
        self.frontier = Frontier(
            ready=[self.graph.tasks[task].steps[0] for task in self.graph.roots]
        )

    def turn_to(self, step: Step) -> None:
        """Switch to the unstarted sibling segment that begins with this step."""
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
    """Return a state for planning an execution from its rows, without the data of any worker."""
    context = SegmentContext(execution_id, version, epoch, priority)
    data = TemplateData(context, place or Place("", version.graph))
    return SegmentState(context, data, segment, resumed=True, stays=False)
