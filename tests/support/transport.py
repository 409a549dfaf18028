"""Celery and its broker, simulated: messages wait in a list, and are lost or duplicated by chance.

Messages that `dispatch` would send with Celery are put into the list. Chains and chords continue as
in Celery: the next link when a task has succeeded, the chord's body after its last header.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any
from uuid import UUID

from runners.dispatch.canvas import Chain, Chord, Parcel, SegmentLink

NUMBER = re.compile(r"(\d+)")


@dataclass(eq=False)
class Count:
    """Counts the headers of a chord that have not ended."""

    left: int


@dataclass
class Message:
    """A task: a segment, or an `advance` if there is no segment; with the chord that counts it, and
    the chain after it.

    `others` are the siblings with which a segment is packed, `more` the executions for which the
    same segment is sent. `task` names one that `messages.tell` requested with `words`, about the
    object with the id `execution`.
    """

    execution: UUID
    version: UUID | None = None
    segment: str = ""
    others: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    chord: Count | None = None
    more: tuple[UUID, ...] = ()
    task: str = ""
    words: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return what the message begins, without ids."""
        kind = self.task or ("segment" if self.segment else "advance")
        parts = [kind, self.segment, *self.others, *(f"then {link}" for link in self.links)]
        if self.more:
            parts.append(f"of {1 + len(self.more)} executions")
        return " ".join(part for part in parts if part)


class Transport:
    """The messages in transit; `lose` and `double` are chances from 0 to 1."""

    def __init__(self, rng: Random, *, lose: float, double: float) -> None:
        self.rng = rng
        self.lose, self.double = lose, double
        self.queue: list[Message] = []

    def publish(self, parcels: Sequence[Parcel]) -> None:
        """Replaces `messages.publish`."""
        sent = [(item, canvas) for item in parcels for canvas in item.canvas]
        for item, canvas in sorted(sent, key=_by_path):  # rows have any order
            self._send(item, canvas)

    def advance(self, execution_id: UUID) -> None:
        """Replaces `messages.advance`."""
        self.put(Message(execution_id))

    def empty(self, queues: set[str]) -> set[str]:
        """Replaces the sweeper's query for empty queues."""
        return set() if self.queue else queues

    def put(self, message: Message) -> None:
        """Accept a message once, twice or not at all."""
        if self.rng.random() >= self.lose:
            self.queue.append(message)
        if self.rng.random() < self.double:
            self.queue.append(message)

    def done(self, message: Message) -> None:
        """Send the messages that Celery sends after a task succeeded."""
        if message.links:
            following, *rest = message.links
            self.put(Message(message.execution, message.version, following, links=tuple(rest)))
        if message.chord is not None:
            message.chord.left -= 1
            if message.chord.left == 0:
                self.put(Message(message.execution, message.version))

    def _send(self, item: Parcel, canvas: Chain | Chord) -> None:
        if isinstance(canvas, Chord):
            count = Count(len(canvas.headers))
            for header in canvas.headers:
                self.put(_segment(item, header, chord=count))
            return
        first, *rest = canvas.links
        links = tuple(link.segment for link in rest)
        self.put(_segment(item, first, links=links, more=item.others))


def _segment(item: Parcel, link: SegmentLink, **more: Any) -> Message:
    return Message(item.execution_id, item.version_id, link.segment, link.others, **more)


def _by_path(sent: tuple[Parcel, Chain | Chord]) -> tuple[UUID, list[Any]]:
    """Return the execution and the position of its first segment, with `t[10]` after `t[2]`."""
    item, canvas = sent
    first = canvas.headers[0] if isinstance(canvas, Chord) else canvas.links[0]
    path = [int(part) if part.isdigit() else part for part in NUMBER.split(first.segment)]
    return item.execution_id, path
