"""Orders to a fork server, and its reports: JSON in packets on one socket."""

import json
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from runners.process.out_of_memory import Shortage

PACKET = 256 * 1024


@dataclass(frozen=True, slots=True)
class SegmentOrder:
    """The order to run the first step of a segment, with the data of the segment's message."""

    number: int
    execution: str
    version: str
    segment: str
    links: tuple[str, ...]
    memory: int  # limit of the address space, in MiB; 0: no limit

    @property
    def execution_id(self) -> UUID:
        """Return the ID of the segment's execution."""
        return UUID(self.execution)

    @property
    def version_id(self) -> UUID:
        """Return the ID of the version that the execution runs."""
        return UUID(self.version)


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """A report on an order: the process began, had an engine error, exited, or finished its step.

    If a signal ended the process, `code` is minus the signal's number. `shortage` is set if the
    process was killed while memory was short, and shows whether the step used up the memory. With
    `done`, the step has ended, and the process continues to run.
    """

    number: int
    pid: int
    error: str = ""
    code: int | None = None
    shortage: Shortage | None = None
    done: bool = False

    @property
    def last(self) -> bool:
        """Return whether no further report on the order follows."""
        return self.done or self.code is not None


def packed(message: SegmentOrder | SegmentReport) -> bytes:
    """Return a message as one packet."""
    return json.dumps(asdict(message)).encode()


def order(packet: bytes) -> SegmentOrder:
    """Parse and return an order that the worker sent."""
    facts: dict[str, Any] = json.loads(packet)
    return SegmentOrder(**facts | {"links": tuple(facts["links"])})


def report(packet: bytes) -> SegmentReport:
    """Parse and return a report that the server or one of its children sent."""
    facts: dict[str, Any] = json.loads(packet)
    short = facts.pop("shortage", None)
    return SegmentReport(**facts, shortage=Shortage(**short) if short else None)
