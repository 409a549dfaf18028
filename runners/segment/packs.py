"""What came with one message and is not begun: siblings of one execution, or other executions.

Each segment is claimed, recorded and fenced as if it had come alone; only the message, the look at
the rows and one commit of two are saved. What a worker does not get to in its time is sent again.
"""

import logging
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import UUID

from executions.definition.graph.places import find
from executions.definition.versions import Compiled
from runners.dispatch import messages
from runners.dispatch.canvas import Chain, Parcel, SegmentLink, link
from runners.segment.work import LiveRun, Work

log = logging.getLogger(__name__)

T = TypeVar("T")
State = TypeVar("State")


@dataclass(slots=True)
class Pack(ABC, Generic[T]):
    """What is not begun yet, in the order in which it is carried.

    The heart's thread may hand back what is left while a step runs: each is taken out once.
    """

    version: Compiled
    left: deque[T]
    until: float  # of time.monotonic(): a worker that is late leaves the rest to others
    priority: int
    size: int = field(init=False)  # how many came with the message, but for the first

    def __post_init__(self) -> None:
        self.size = len(self.left)

    def late(self) -> bool:
        """Whether what was carried took much longer than it was packed for."""
        return time.monotonic() > self.until

    def hand_back(self) -> None:
        """Send what was not begun to whoever is free; a worker that has it twice does no harm.

        It goes in packs of as many as this worker took on in its time, so those that came with a
        slow step go one by one and those of short steps together.
        """
        rest = list(_drain(self.left))
        if not rest:
            return
        together = max(1, self.size - len(rest))
        parts = [rest[first : first + together] for first in range(0, len(rest), together)]
        messages.publish([self._parcel(part) for part in parts])

    @abstractmethod
    def _parcel(self, part: Sequence[T]) -> Parcel:
        """A message of these."""


@dataclass(slots=True)
class SiblingPack(Pack[str]):
    """Sibling segments of one execution, by the paths of their first steps.

    `seen` are those that this worker may claim without another look: pending, tried by nobody.
    """

    execution_id: UUID
    seen: dict[str, LiveRun] = field(default_factory=dict)

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

    def _parcel(self, part: Sequence[str]) -> Parcel:
        (place, first), *others = (find(self.version.graph, name) for name in part)
        carried = Chain((link(place, first, *(step for _, step in others)),))
        return Parcel(self.execution_id, self.version.id, self.priority, (carried,))


@dataclass(slots=True)
class ExecutionPack(Pack[UUID], Generic[State]):
    """Executions of one version whose segments of one path came together.

    `seen` is what one look at all of them found: how each stands, and its live run. `claimed` is
    the one whose run was claimed in the statement that recorded the end of another.
    """

    segment: SegmentLink
    seen: dict[UUID, tuple[State, LiveRun]] = field(default_factory=dict)
    claimed: tuple[State, Work] | None = None

    def following(self) -> tuple[State, LiveRun] | None:
        """Take out the next execution that has something to do."""
        while (execution_id := self._next()) is not None:
            if (seen := self.seen.pop(execution_id, None)) is not None:
                return seen
        return None

    def put_back(self, execution_id: UUID, state: State, seen: LiveRun) -> None:
        """Carry this one next: it was taken out, and not claimed."""
        self.seen[execution_id] = state, seen
        self.left.appendleft(execution_id)

    def _next(self) -> UUID | None:
        try:
            return self.left.popleft()
        except IndexError:
            return None

    def _parcel(self, part: Sequence[UUID]) -> Parcel:
        first, *others = part
        carried = Chain((self.segment,))
        return Parcel(first, self.version.id, self.priority, (carried,), tuple(others))


def _drain(left: deque[T]) -> Iterable[T]:
    while left:
        try:
            yield left.popleft()
        except IndexError:  # the other thread was quicker
            return
