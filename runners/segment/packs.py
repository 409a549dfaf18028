"""Segments of one message that have not started, from one or several executions.

Each segment is claimed, recorded and fenced separately. Work that exceeds the pack's time is sent
again.
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
    """The segments of one message that have not started, in the order in which they run.

    The heartbeat's thread can send the remaining segments to other workers while a step runs. Each
    segment is therefore removed before it is claimed or sent.
    """

    version: Compiled
    left: deque[T]
    until: float  # time limit, in `time.monotonic()`; a late worker leaves the rest to others
    priority: int
    size: int = field(init=False)  # number of segments in the message, without the first

    def __post_init__(self) -> None:
        self.size = len(self.left)

    def late(self) -> bool:
        """Return whether the time for the pack's work is over."""
        return time.monotonic() > self.until

    def hand_back(self) -> None:
        """Send the remaining work to other workers; a duplicate message is harmless.

        Each new pack has at most as many segments as this worker took from this pack, but at least
        one. Slow steps are therefore sent one by one, and short steps together.
        """
        rest = list(_drain(self.left))
        if not rest:
            return
        together = max(1, self.size - len(rest))
        parts = [rest[first : first + together] for first in range(0, len(rest), together)]
        messages.publish([self._parcel(part) for part in parts])

    @abstractmethod
    def _parcel(self, part: Sequence[T]) -> Parcel:
        """Return the parcel for one message with this part of the work."""


@dataclass(slots=True)
class SiblingPack(Pack[str]):
    """Sibling segments of one execution, named by the paths of their first steps.

    This worker may claim the siblings in `seen` without another query, because they are pending and
    were never tried.
    """

    execution_id: UUID
    seen: dict[str, LiveRun] = field(default_factory=dict)

    def following(self) -> LiveRun | None:
        """Remove and return the next sibling if `seen` contains it; otherwise return None."""
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
    """Executions of one version whose segments of the same path are in one message.

    `seen` contains the state and live run of each execution that can be claimed, from one query.
    `claimed` is an execution whose run was claimed when the previous execution's result was
    recorded.
    """

    segment: SegmentLink
    seen: dict[UUID, tuple[State, LiveRun]] = field(default_factory=dict)
    claimed: tuple[State, Work] | None = None

    def following(self) -> tuple[State, LiveRun] | None:
        """Remove and return the next execution that has a run to claim, or None."""
        while (execution_id := self._next()) is not None:
            if (seen := self.seen.pop(execution_id, None)) is not None:
                return seen
        return None

    def put_back(self, execution_id: UUID, state: State, seen: LiveRun) -> None:
        """Put an unclaimed execution back at the front of the pack."""
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
        except IndexError:  # the other thread took the last one
            return
