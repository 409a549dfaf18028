"""Sibling segments that came with one message, carried one after another by one worker.

Each is claimed, recorded and fenced as if it had come alone; only the message, the look at the
rows and one commit of two are saved. What a worker does not get to is sent again, one message each.
"""

import logging
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from uuid import UUID

from executions.definition.graph.places import find
from executions.definition.versions import Compiled
from runners.dispatch import messages
from runners.dispatch.canvas import Chain, link
from runners.segment.live_run import LiveRun

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
        """Send what was not begun to whoever is free; a worker that has it twice does no harm."""
        names = list(_drain(self.left))
        if not names:
            return
        log.info("%s of %s go to others: %s", len(names), self.execution_id, names[:3])
        canvas = tuple(Chain((link(*find(self.version.graph, name)),)) for name in names)
        messages.publish(
            [messages.Parcel(self.execution_id, self.version.id, self.priority, canvas)]
        )


def _drain(left: deque[str]) -> Iterable[str]:
    while left:
        try:
            yield left.popleft()
        except IndexError:  # the other thread was quicker
            return
