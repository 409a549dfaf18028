"""CPU seconds of whole process trees, including children that have ended.

A live process is measured by its own clock, in nanoseconds. `/proc` counts in hundredths of a
second, and a broker uses at most two of these in a short part.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

TICKS = os.sysconf("SC_CLK_TCK")


def tree_seconds(pid: int) -> float:
    """Return user and system time of a process, its living descendants and those already reaped."""
    try:
        processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    return sum(process_seconds(process.pid) for process in processes)


def process_seconds(pid: int) -> float:
    """Return user and system time of a process and of its reaped children; 0 after its end."""
    try:
        own = time.clock_gettime(_clock_of(pid))
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return own + sum(map(int, fields[13:15])) / TICKS  # cutime, cstime


def _clock_of(pid: int) -> int:
    """Return the clock of a process's CPU time, with the number that Linux's `clock_getcpuclockid`
    gives it.
    """
    return (~pid << 3) | 2


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds of one measured period."""

    workers: float
    postgres: float
    redis: float
    publisher: float

    @property
    def total(self) -> float:
        """The sum of all parts."""
        return self.workers + self.postgres + self.redis + self.publisher

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


class Meter:
    """Reads the trees when created; returns later what they used since then."""

    def __init__(self, *, workers: int, postgres: int, redis: int) -> None:
        self._pids = (workers, postgres, redis)
        self._before = self._read()

    def used(self, publisher: float) -> Usage:
        """Return what the trees used since then; `publisher` is the caller's own CPU seconds."""
        after = self._read()
        parts = [now - before for now, before in zip(after, self._before, strict=True)]
        return Usage(*parts, publisher)

    def _read(self) -> list[float]:
        return [tree_seconds(pid) for pid in self._pids]
