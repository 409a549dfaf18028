"""Decide whether a run ended the process that held the run's lease.

A run is blamed only if no other cause can have ended the process: no other run executed there, and
the process's parent is still running (it would have ended with the container, the host or the whole
worker). If memory was short, the killed process may not be the cause: its run is blamed only if the
process held more memory than any other.
"""

from dataclasses import dataclass

from runners.models import Runner
from runners.process import out_of_memory
from runners.process.identity import (
    ended_itself,
    gone,
    lives,
    parent_lives,
    shared,
    shortage_at_end,
    unreaped,
)

MOST = 200  # maximum characters of a cause


@dataclass(frozen=True, slots=True)
class Death:
    """The decision about a run: `crashed` counts against the run; `suspect` makes it a suspect."""

    lost: int = 0
    crashed: int = 0
    cause: str = ""
    suspect: bool = False
    delay: float = 0.0  # delay before the run is sent again, in seconds


LOST = Death(lost=1, suspect=True)
SILENT = Death(lost=1)
# Memory was short, possibly because of another process, which may have freed it after the delay.
SHORT = Death(lost=1, suspect=True, delay=2.0)


def crash(cause: str) -> Death:
    """Return the decision about a run that is the only possible cause of its process's end."""
    return Death(lost=1, crashed=1, cause=cause[:MOST], suspect=True)


def judge(leased_by: str, companions: int = 0, cause: str = "") -> Death:
    """Return the decision about a run whose holder ended or stopped renewing its lease.

    `companions` is the number of other runs that the same process held. If the worker announced its
    shutdown, nothing is counted. A process that could not renew its leases, and is still running or
    ended itself, counts against no run.
    """
    if announced(leased_by):
        return Death()
    if lives(leased_by) or ended_itself(leased_by):
        return SILENT
    if shared(leased_by) or companions or not gone(leased_by) or not parent_lives(leased_by):
        return LOST
    if unreaped(leased_by) and out_of_memory.of_late():
        return LOST  # it is not known yet how the process ended
    if (shortage := shortage_at_end(leased_by)) is not None:
        return crash(shortage.cause) if shortage.took else SHORT
    return crash(cause or "its process ended while its worker continued")


def announced(leased_by: str) -> bool:
    """Return whether the holder's worker announced its shutdown; its end is then not a crash."""
    name = leased_by.partition("|")[0]
    return bool(name) and Runner.objects.filter(name=name, leaving_at__isnull=False).exists()
