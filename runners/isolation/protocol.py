"""What a fork server is told, and what comes back: JSON in packets on one socket."""

import json
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from runners.process.out_of_memory import Shortage

PACKET = 256 * 1024


@dataclass(frozen=True, slots=True)
class SegmentOrder:
    """The segment whose first step is to be carried, and what its message said of it."""

    number: int
    execution: str
    version: str
    segment: str
    links: tuple[str, ...]
    memory: int  # MiB of address space; 0 is no limit

    @property
    def execution_id(self) -> UUID:
        """Whose segment it is."""
        return UUID(self.execution)

    @property
    def version_id(self) -> UUID:
        """The version that the execution runs."""
        return UUID(self.version)


@dataclass(frozen=True, slots=True)
class SegmentReport:
    """Of one order: a process has it, met an error of the engine, ended with a code, or is `done`.

    A negative code is the signal that ended it. `shortage` says that memory was short then, and
    whether the step had taken it. A process that is done with its step lives on.
    """

    number: int
    pid: int
    error: str = ""
    code: int | None = None
    shortage: Shortage | None = None
    done: bool = False

    @property
    def last(self) -> bool:
        """Whether nothing more is told of this order."""
        return self.done or self.code is not None


def packed(message: SegmentOrder | SegmentReport) -> bytes:
    """One packet."""
    return json.dumps(asdict(message)).encode()


def order(packet: bytes) -> SegmentOrder:
    """What the worker sent."""
    facts: dict[str, Any] = json.loads(packet)
    return SegmentOrder(**facts | {"links": tuple(facts["links"])})


def report(packet: bytes) -> SegmentReport:
    """What the server or one of its children sent."""
    facts: dict[str, Any] = json.loads(packet)
    short = facts.pop("shortage", None)
    return SegmentReport(**facts, shortage=Shortage(**short) if short else None)
