"""What a process does with a step whose lease it cannot renew. Pure: no clock, no threads.

Another worker takes the step over once the lease has ended, so the step's effects must end before.
The age of a lease is counted from before its last renewal was sent, on a monotonic clock. The
database counts from when it served that renewal, which is later: no stage here comes too late,
however wrong the wall clocks are.
"""

from enum import IntEnum

TELL_AT, INTERRUPT_AT, END_AT = 0.7, 0.8, 0.9  # of the lease
LOOKS = 40  # within a lease; a stage is noticed that much later at most
MOST_PERIOD = 0.5


class LeaseStage(IntEnum):
    """How far an unrenewed lease has come."""

    HELD = 0
    TELL = 1  # ask the step to end, by its context
    INTERRUPT = 2  # raise in the step, where it runs in its process's main thread
    END = 3  # end the process that still executes it


def stage(age: float, lease: float) -> LeaseStage:
    """Return what is due for a lease of `lease` seconds that was last renewed `age` seconds ago."""
    if age < TELL_AT * lease:
        return LeaseStage.HELD
    if age < INTERRUPT_AT * lease:
        return LeaseStage.TELL
    return LeaseStage.INTERRUPT if age < END_AT * lease else LeaseStage.END


def period(lease: float) -> float:
    """Return the seconds from one look at the leases to the next."""
    return min(MOST_PERIOD, lease / LOOKS)
