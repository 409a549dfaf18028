"""The memory that a worker's processes share with their watchdog. This module imports no Django.

Each process has a slot: a head with the process and the time at which its ticker last ran, and one
note per thread with the run that it executes. Ticks and notes are written into mapped memory,
without a system call or a lock. Pages that were never written take no memory.
"""

import fcntl
import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

PLACES = 256  # maximum processes of one worker that can be watched at once
THREADS = 1024  # maximum threads of one process

# The process ID, its start in clock ticks since boot, the last tick in monotonic nanoseconds, and
# the thread IDs of the ticker and the heartbeat (0: not started).
_HEAD = struct.Struct("<qqqqq")
_HEAD_BYTES = 64
_FIELD = struct.Struct("<q")
_TICK, _TICKER, _HEART = 16, 24, 32  # offsets in a head, in bytes
# The thread ID, run ID, lease token and phase.
_NOTE = struct.Struct("<q16sqq")
_HEADS_BYTES = PLACES * _HEAD_BYTES
SIZE = _HEADS_BYTES + PLACES * THREADS * _NOTE.size

# The phases of a thread's note.
NOTHING, EXECUTES, AFTERWARDS = 0, 1, 2


@dataclass(frozen=True, slots=True)
class SlotHead:
    """A slot's head: the process, its start and last tick, and the ticker and heart threads."""

    place: int
    pid: int
    start: int
    tick: int
    ticker: int
    heart: int


@dataclass(frozen=True, slots=True)
class Note:
    """A thread's state: its native ID, its run, the run's newest known token, and its phase."""

    thread: int
    run_id: UUID
    token: int
    phase: int


def create() -> int:
    """Return a descriptor of new shared memory, which is freed with the last process that uses it.

    Raises OSError if the system cannot provide the memory.
    """
    descriptor = os.memfd_create("valkyr-stalls")
    os.ftruncate(descriptor, SIZE)
    return descriptor


class StallSlot:
    """The slot of this process, which the process itself acquires once."""

    def __init__(self, descriptor: int, start: int) -> None:
        """Take a slot; `start` is this process's start time.

        Raises OSError if the memory is no longer available or has no free slot.
        """
        self._memory = mmap.mmap(descriptor, SIZE)
        self.left = False
        self._number = self._take(descriptor, start)
        self._head = self._number * _HEAD_BYTES
        self._notes = _HEADS_BYTES + self._number * THREADS * _NOTE.size

    def _take(self, descriptor: int, start: int) -> int:
        fcntl.lockf(descriptor, fcntl.LOCK_EX)
        try:
            for head in heads(descriptor, free=True):
                if head.pid and start_of(head.pid) == head.start:
                    continue
                first = _HEADS_BYTES + head.place * THREADS * _NOTE.size
                if head.pid:  # clear the notes of the dead process
                    self._memory[first : first + THREADS * _NOTE.size] = bytes(THREADS * _NOTE.size)
                at = head.place * _HEAD_BYTES
                _HEAD.pack_into(self._memory, at, os.getpid(), start, 0, 0, 0)
                return head.place
        finally:
            fcntl.lockf(descriptor, fcntl.LOCK_UN)
        raise OSError(f"more than {PLACES} processes of one worker cannot be watched")

    def tick(self, now: int) -> None:
        """Record the time, in monotonic nanoseconds, at which the ticker ran."""
        _FIELD.pack_into(self._memory, self._head + _TICK, now)

    def name_ticker(self, thread: int) -> None:
        """Record which thread is the ticker."""
        _FIELD.pack_into(self._memory, self._head + _TICKER, thread)

    def name_heart(self, thread: int) -> None:
        """Record which thread renews leases."""
        _FIELD.pack_into(self._memory, self._head + _HEART, thread)

    def note(self, number: int, thread: int, run: bytes, token: int, phase: int) -> None:
        """Record the run that thread `number` of this process is executing, and in which phase."""
        _NOTE.pack_into(self._memory, self._notes + number * _NOTE.size, thread, run, token, phase)

    def leave(self) -> None:
        """Release the slot; the process is no longer watched."""
        self.left = True
        _FIELD.pack_into(self._memory, self._head, 0)


def heads(descriptor: int, *, free: bool = False) -> Iterator[SlotHead]:
    """Yield the heads of the slots that processes use; with `free`, of the empty slots too."""
    data = os.pread(descriptor, _HEADS_BYTES, 0)
    for place in range(len(data) // _HEAD_BYTES):
        head = SlotHead(place, *_HEAD.unpack_from(data, place * _HEAD_BYTES))
        if head.pid or free:
            yield head


def note_of(descriptor: int, place: int, thread: int) -> Note | None:
    """Return the note of a thread of the process in slot `place`; None if the thread has no run."""
    first = _HEADS_BYTES + place * THREADS * _NOTE.size
    data = os.pread(descriptor, THREADS * _NOTE.size, first)
    for number in range(len(data) // _NOTE.size):
        found, run, token, phase = _NOTE.unpack_from(data, number * _NOTE.size)
        if found == thread and phase != NOTHING:
            return Note(found, UUID(bytes=run), token, phase)
    return None


def start_of(pid: int) -> int:
    """Return a process's start, in clock ticks since boot; 0 if it has ended or is a zombie."""
    fields = stat_of(f"/proc/{pid}/stat")
    return 0 if not fields or fields[0] in "ZX" else int(fields[19])


def stat_of(path: str) -> list[str]:
    """Return the fields after the process name in a /proc `stat` file; [] if it cannot be read."""
    try:
        with open(path) as file:  # noqa: PTH123 - pathlib is a megabyte of the watchdog
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []
