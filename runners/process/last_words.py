"""A note that a process leaves when it ends because it cannot renew its leases.

The note is a file in the folder of `signs_of_life`. Other processes on the machine read it when
they decide why the process ended, so that no step is blamed. This module imports no Django.
"""

import _thread
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from runners.process.activity_slots import start_of
from runners.process.signs_of_life import folder

KEPT = 3600.0  # lifetime of the note, in seconds; the database may be unreachable for a long time

SECONDS = 0.1  # maximum wait for the note, so that a slow disk does not delay the process's end


class OwnWord:
    """The note of this process. A separate thread writes it, because a disk may not respond.

    Use the object from one thread at a time, or from a signal handler of the main thread.
    """

    def __init__(self) -> None:
        self._left = False
        self._written = _thread.allocate_lock()

    def leave(self) -> None:
        """Begin to write the note, unless it was left already, without waiting for the disk.

        Call this when the process may have to end because it cannot renew its leases.
        """
        if not self._left:
            self._left = True
            self._written = begin(leave, os.getpid())
            begin(forget_old)

    def take_back(self) -> None:
        """Remove the note, because this process continues."""
        if self._left:
            self._left = False
            begin(_unlink_after, self._written, os.getpid())

    def wait(self) -> None:
        """Wait until the note is written, for at most `SECONDS`."""
        if self._written.acquire(timeout=SECONDS):
            self._written.release()


def begin(act: Callable[..., object], *args: Any) -> _thread.LockType:
    """Start a thread that calls `act`; return a lock that is released when `act` is done."""
    done = _thread.allocate_lock()
    done.acquire()

    def perform() -> None:
        try:
            act(*args)
        finally:
            done.release()

    try:
        _thread.start_new_thread(perform, ())
    except RuntimeError:  # not enough memory for a thread
        done.release()
    return done


def within(seconds: float, act: Callable[..., object], *args: Any) -> None:
    """Call `act` in a thread, and wait for it for at most `seconds`."""
    begin(act, *args).acquire(timeout=seconds)


def _unlink_after(written: _thread.LockType, pid: int) -> None:
    with written, suppress(OSError):
        _word(pid, str(start_of(pid))).unlink()


def leave(pid: int) -> None:
    """Write that the process with this ID is ending because it could not renew its leases."""
    with suppress(OSError):
        where = folder()
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        _word(pid, str(start_of(pid))).touch()


def left_by(pid: int, start: str) -> bool:
    """Return whether a process left the note that it ends because it could not renew its leases.

    `pid` and `start` are the ID and the start time of the process.
    """
    return _word(pid, start).exists()


def _word(pid: int, start: str) -> Path:
    return folder() / f"ended-itself-{pid}-{start}"


def forget_old() -> None:
    """Remove the notes that are older than `KEPT`."""
    with suppress(OSError):
        for path in folder().glob("ended-itself-*"):
            if time.time() - path.stat().st_mtime > KEPT:
                path.unlink(missing_ok=True)
