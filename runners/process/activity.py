"""Report to the watchdog that this process is running, and what its threads are doing.

A ticker thread writes the time; if it stops for `VALKYR_STALL_SECONDS` while the process uses the
processor, the watchdog ends the process. The ticker does nothing else, so that a slow database does
not make the process look stalled. Without a watchdog, nothing is reported.
"""

import itertools
import logging
import mmap
import os
import sys
import threading
import time
from uuid import UUID

from runners.conf import config
from runners.process.activity_slots import (
    AFTERWARDS,
    EXECUTES,
    NOTHING,
    THREADS,
    StallSlot,
    start_of,
)

log = logging.getLogger(__name__)

# The variable with the shared memory's descriptor, which all processes of the worker inherit.
DESCRIPTOR = "VALKYR_STALL_MEMORY"
MOST_TICK = 1.0
TICKS = 8  # minimum ticks within the limit
_NO_RUN = bytes(16)


class _Own(threading.local):
    """The calling thread: its number among this process's threads, and its native ID."""

    def __init__(self) -> None:
        self.number = next(_numbers)
        self.thread = threading.get_native_id()


_numbers = itertools.count()
_own = _Own()
_place: StallSlot | None = None


def be_watched() -> None:
    """Register this process with the watchdog; each forked process must call this itself."""
    global _place, _numbers, _own  # noqa: PLW0603 - one place a process
    given = os.environ.get(DESCRIPTOR)
    if not given or not sys.platform.startswith("linux"):
        return
    _numbers = itertools.count()
    _own = _Own()
    try:
        place = StallSlot(int(given), start_of(os.getpid()))
    except OSError as error:
        log.warning("no watchdog monitors this process (%s)", error)
        return
    place.tick(time.monotonic_ns())
    every = min(MOST_TICK, config().stall / TICKS)
    threading.Thread(
        target=_keep_ticking, args=(place, every), name="valkyr-ticker", daemon=True
    ).start()
    _place = place


def descriptors() -> list[int]:
    """Return the descriptors that a program must inherit so that its forks can be watched."""
    given = os.environ.get(DESCRIPTOR)
    return [int(given)] if given else []


def be_left_alone() -> None:
    """Unregister this process from the watchdog, because the process ends normally."""
    global _place
    place, _place = _place, None
    if place is not None:
        place.leave()


def executes(run_id: UUID, token: int) -> None:
    """Record that the calling thread is preparing or executing this run.

    `token` is the newest fencing token of the run that the thread has seen.
    """
    if _place is not None and (own := _own).number < THREADS:
        _place.note(own.number, own.thread, run_id.bytes, token, EXECUTES)


def goes_on_after(run_id: UUID, token: int) -> None:
    """Record that the run was executed, so that it is not blamed for the thread's further work."""
    if _place is not None and (own := _own).number < THREADS:
        _place.note(own.number, own.thread, run_id.bytes, token, AFTERWARDS)


def rests() -> None:
    """Record that the calling thread holds no run."""
    if _place is not None and (own := _own).number < THREADS:
        _place.note(own.number, own.thread, _NO_RUN, 0, NOTHING)


def heart_begins() -> None:
    """Record that the calling thread renews leases.

    If the calling thread ends, the watchdog ends the process.
    """
    if _place is not None:
        _place.name_heart(threading.get_native_id())


def _keep_ticking(place: StallSlot, every: float) -> None:
    place.name_ticker(threading.get_native_id())
    while not place.left:
        place.tick(time.monotonic_ns())
        time.sleep(every)


# Whether this worker is draining. If so, none of its threads begins another step.
#
# The flag is in memory that a prefork worker's children share with their parent, because only the
# parent is notified (systemd and Kubernetes send SIGTERM to the first process only).


_flag: bytearray | mmap.mmap = bytearray(1)


def share_draining() -> None:
    """Share the draining flag with the processes that this worker forks from now on."""
    global _flag  # noqa: PLW0603 - one a worker
    _flag = mmap.mmap(-1, 1)


def begin_draining() -> None:
    """Stop this worker from starting further steps."""
    _flag[0] = 1


def draining() -> bool:
    """Return whether this worker is draining."""
    return _flag[0] == 1


def forget_draining() -> None:
    """Stop draining. Only tests need this, because their process continues after a drain."""
    _flag[0] = 0
