"""Decide what a process does with a step whose lease it cannot renew.

This module is pure: it uses no clock and no threads.

After the lease ends, another worker can take the step over, so the step's effects must end before
that time. The caller measures a lease's age on a monotonic clock, from just before the last renewal
was sent. The database measures it from when it served that renewal, which is later. So no stage
comes too late, even with wrong wall clocks.
"""

from enum import IntEnum

TELL_AT, INTERRUPT_AT, END_AT = 0.7, 0.8, 0.9  # ages of a lease, as fractions of its length
LOOKS = 40  # checks within a lease; a stage is noticed at most this fraction of the lease late
MOST_PERIOD = 0.5


class LeaseStage(IntEnum):
    """The stages of a lease that cannot be renewed."""

    HELD = 0
    TELL = 1  # let the step's context ask it to end
    INTERRUPT = 2  # raise an exception in the step if it runs in its process's main thread
    END = 3  # end the process that still executes the step


def stage(age: float, lease: float) -> LeaseStage:
    """Return the stage of a lease of `lease` seconds that was last renewed `age` seconds ago."""
    if age < TELL_AT * lease:
        return LeaseStage.HELD
    if age < INTERRUPT_AT * lease:
        return LeaseStage.TELL
    return LeaseStage.INTERRUPT if age < END_AT * lease else LeaseStage.END


def period(lease: float) -> float:
    """Return the seconds between two checks of the leases."""
    return min(MOST_PERIOD, lease / LOOKS)
