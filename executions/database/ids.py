"""IDs that sort by time: UUIDs of version 7, or of version 8 in cells."""

import secrets
import time
from uuid import UUID

from executions.database import routing
from executions.database.cells import OF_CELL, OF_FIRST, REST, number_of

STEPS = 4096  # per millisecond: the 12 bits after the version
_newest = 0


def uuid7() -> UUID:
    """Return a new ID that sorts by the time at which it was made.

    Its first 48 bits are the Unix time in milliseconds, and the 12 bits after the version are the
    fraction of the millisecond. The last 62 bits are random (RFC 9562, section 6.2, method 3). In a
    cell, the cell's number replaces 16 of the random bits. IDs that a process makes for one
    database increase, unless its clock is set back. Even if a process makes many IDs at once, their
    times are at most 1 ms ahead of the clock.
    """
    global _newest  # noqa: PLW0603 - the newest id of this process
    step = time.time_ns() * STEPS // 10**6
    if _newest - STEPS < step <= _newest:
        step = _newest + 1
    _newest = step
    milliseconds, part = divmod(step, STEPS)
    if cell := routing.cell():
        version, rest = OF_CELL, number_of(cell) << REST | secrets.randbits(REST)
    else:
        version, rest = OF_FIRST, secrets.randbits(62)
    # Python supports UUID version 7 only from 3.14 on.
    return UUID(int=milliseconds << 80 | version << 76 | part << 64 | 0b10 << 62 | rest)
