"""Which thread of a process uses the processor. Imports nothing of Django."""

import os
from dataclasses import dataclass

from runners.process.activity_slots import stat_of

TICKS = os.sysconf("SC_CLK_TCK")
# Waiting threads wake every 5 ms to ask for the interpreter lock; whoever holds it uses far more.
LEAST_SHARE = 0.05  # of one processor, below which a thread is not what stalls the process
HALF = 0.5  # of what the whole process uses


@dataclass(frozen=True, slots=True)
class CpuUsage:
    """Clock ticks that each thread of a process has used so far, by native thread id."""

    threads: dict[int, int]
    stopped: bool  # by a signal or a debugger


def usage(pid: int) -> CpuUsage | None:
    """What the process's threads have used; None when it is gone."""
    try:
        names = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - pathlib is a megabyte here
    except OSError:
        return None
    threads = {}
    states = set()
    for name in names:
        fields = stat_of(f"/proc/{pid}/task/{name}/stat")
        if fields:
            states.add(fields[0])
            threads[int(name)] = int(fields[11]) + int(fields[12])
    return CpuUsage(threads, not states.isdisjoint("Tt"))


def busiest(before: CpuUsage, after: CpuUsage, seconds: float) -> int | None:
    """The thread that used most of what the process used meanwhile; None where none stands out.

    None as well for a process that hardly used the processor: it is stopped, swapped out, or waits.
    """
    if before.stopped or after.stopped:
        return None
    used = {
        thread: ticks - before.threads[thread]
        for thread, ticks in after.threads.items()
        if thread in before.threads
    }
    if not used:
        return None
    thread = max(used, key=used.__getitem__)
    least = max(2.0, LEAST_SHARE * seconds * TICKS)
    if used[thread] < least or used[thread] < HALF * sum(used.values()):
        return None
    return thread
