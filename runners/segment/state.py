"""How far a worker is with the segment it runs. Only the pipeline changes it.

Outcomes learned here decide what is next without asking the database, as long as every
predecessor ran in this segment; the rest is left to planning under the execution's lock.
"""

import logging
import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from executions.definition.graph.model import Graph, Passed, Step
from executions.definition.graph.places import Place, find
from executions.definition.graph.plan import Settlement, decide, settle
from executions.definition.versions import Compiled
from runners.dispatch import messages
from runners.dispatch.canvas import Chain, SegmentLink, link
from runners.failures.classification import Failure
from runners.segment.context import SegmentContext
from runners.segment.template_data import TemplateData, result
from runners.segment.work import LiveRun


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
    pack: "Pack | None" = None  # the siblings that came with the segment
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


# Sibling segments that came with one message, carried one after another by one worker.
#
# Each is claimed, recorded and fenced as if it had come alone; only the message, the look at the
# rows and one commit of two are saved. What a worker does not get to is sent again.


log = logging.getLogger(__name__)


@dataclass(slots=True)
class Pack:
    """Segments not begun yet, in the order in which they are carried.

    `seen` are those that this worker may claim without another look: pending, tried by nobody.
    The heart's thread may hand back what is left while a step runs: each name is taken out once.
    """

    execution_id: UUID
    version: Compiled
    left: deque[str]
    until: float  # of time.monotonic(): a worker that is late leaves the rest to others
    priority: int
    seen: dict[str, LiveRun] = field(default_factory=dict)
    size: int = field(init=False)  # how many came with the message

    def __post_init__(self) -> None:
        self.size = len(self.left)

    def late(self) -> bool:
        """Whether the segments took much longer than they were packed for."""
        return time.monotonic() > self.until

    def following(self) -> LiveRun | None:
        """Take out the next segment, where it may be claimed without another look."""
        if self.late():
            self.hand_back()
        try:
            segment = self.left.popleft()
        except IndexError:
            return None
        seen = self.seen.pop(segment, None)
        if seen is None:
            self.left.appendleft(segment)
        return seen

    def hand_back(self) -> None:
        """Send what was not begun to whoever is free; a worker that has it twice does no harm.

        It goes in packs of as many as this worker took on in its time, so a slow step's siblings
        go one by one and those of short steps together.
        """
        names = list(_drain(self.left))
        if not names:
            return
        log.info("%s of %s go to others: %s", len(names), self.execution_id, names[:3])
        together = max(1, self.size - len(names))
        packs = [names[first : first + together] for first in range(0, len(names), together)]
        canvas = tuple(Chain((self._link(pack),)) for pack in packs)
        messages.publish(
            [messages.Parcel(self.execution_id, self.version.id, self.priority, canvas)]
        )

    def _link(self, names: Sequence[str]) -> SegmentLink:
        (place, first), *others = (find(self.version.graph, name) for name in names)
        return link(place, first, *(step for _, step in others))


def _drain(left: deque[str]) -> Iterable[str]:
    while left:
        try:
            yield left.popleft()
        except IndexError:  # the other thread was quicker
            return
