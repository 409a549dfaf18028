"""Find out whether memory ran out when a child was killed, and whether the child had used it up.

The kernel's OOM killer ends a process of its choice, which may not be the one that used the memory:
isolated steps are killed first, and the cause may be an unrelated process. Only the parent sees a
child's peak memory, when the child ends. The parent therefore judges, and leaves a note for
processes that recover the child's run. This module imports no Django.
"""

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from runners import conf
from runners.process.activity_slots import stat_of
from runners.process.signs_of_life import folder

PROC = Path("/proc")
KIBIBYTES = os.sysconf("SC_PAGE_SIZE") // 1024
# KiB that a step may use above its process's initial memory; less cannot exhaust a machine.
LEAST = 64 * 1024
MOMENT = 2.0  # time in which one shortage may kill several processes, in seconds
KEPT = 600.0  # lifetime of a note about an end, in seconds
# Positions in a process's `stat` file, counted after the process's name.
_STATE, _PARENT, _START, _PAGES = 0, 1, 19, 21


@dataclass(frozen=True, slots=True)
class Shortage:
    """A child was killed while memory was short; `took` is true if the child used the memory."""

    took: bool
    cause: str = ""


UNKNOWN = Shortage(took=False)


class KillWatch:
    """Detects whether the OOM killer has recently ended any process on this machine."""

    def __init__(self, seconds: float = MOMENT) -> None:
        """Start to watch. After a kill, memory counts as short for `seconds`."""
        self._seconds = seconds
        self._seen = kills()
        self._until = 0.0

    def short(self) -> bool:
        """Return whether this call, or a call in the last `seconds`, found a new kill."""
        found, now = kills(), time.monotonic()
        if found != self._seen:
            self._seen, self._until = found, now + self._seconds
        return now < self._until

    def look(self) -> None:
        """Ignore the kills since the last call: this process had no child that could be killed."""
        self._seen = kills()


class ChildDeaths(KillWatch):
    """Judges the deaths of this process's own children."""

    def __init__(self) -> None:
        """Start with no recorded kill."""
        super().__init__()
        self._peaks: list[tuple[float, int]] = []

    def judge(self, pid: int, peak: int) -> Shortage:
        """Return the shortage, which shows whether the child caused it; `peak` is in KiB.

        Call this after the child was killed while memory was short.
        """
        now = time.monotonic()
        self._peaks = [(at, held) for at, held in self._peaks if now - at < MOMENT]
        before = max((held for _, held in self._peaks), default=0)
        self._peaks.append((now, peak))
        mine, biggest, others_ended = _around(pid)
        # If another child was killed but not yet reaped, its memory use is unknown.
        if others_ended or peak - mine < LEAST or peak < max(biggest, before):
            return UNKNOWN
        return Shortage(
            took=True,
            cause=f"its process was ended by SIGKILL (out of memory): it held {peak // 1024} MiB, "
            "more than any other process here",
        )


def kills() -> int:
    """Return the number of processes that the OOM killer ended on this machine; 0 if unknown."""
    with suppress(OSError):
        for line in (PROC / "vmstat").read_text().splitlines():
            name, _, number = line.partition(" ")
            if name == "oom_kill":
                return int(number)
    return 0


# A pool reaps its children within 5 s. Until then, the memory use of a killed child is unknown.
of_late = KillWatch(10.0).short


def tell(pid: int, start: str, found: Shortage) -> None:
    """Leave a note about the end of the child with this process ID and start time."""
    with suppress(OSError):
        where = folder()
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        _forget_old(where)
        fresh = where / f".killed-{pid}"
        fresh.write_text(json.dumps(asdict(found)))
        fresh.replace(_word(pid, start))


def told(pid: int, start: str) -> Shortage | None:
    """Return the note that a process's parent left about the process's end, or None."""
    try:
        return Shortage(**json.loads(_word(pid, start).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def start_of(pid: int) -> str:
    """Return the process's start, in clock ticks since boot, even for a zombie; "" if unknown."""
    fields = stat_of(f"/proc/{pid}/stat")
    return fields[_START] if fields else ""


def _word(pid: int, start: str) -> Path:
    return folder() / f"killed-{pid}-{start}.json"


def _forget_old(where: Path) -> None:
    for path in where.glob("killed-*.json"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > KEPT:
                path.unlink()


def _around(pid: int) -> tuple[int, int, bool]:
    """Return the KiB of this process and of the largest one, and whether another child is a zombie.

    The process `pid` is ignored. If a cgroup limits the memory, only the processes of the cgroup
    can have used it.
    """
    me = os.getpid()
    group = _group(me) if conf.limited() else ""
    mine, biggest, ended = 0, 0, False
    for entry in (path.name for path in PROC.iterdir()):
        if not entry.isdigit() or int(entry) == pid:
            continue
        fields = stat_of(f"/proc/{entry}/stat")
        if not fields:
            continue
        if fields[_STATE] in "ZX":
            ended = ended or int(fields[_PARENT]) == me
            continue
        held = int(fields[_PAGES]) * KIBIBYTES
        if int(entry) == me:
            mine = held
        elif held > biggest and (not group or _group(int(entry)) == group):
            biggest = held
    return mine, max(mine, biggest), ended


def _group(pid: int) -> str:
    with suppress(OSError):
        return (PROC / str(pid) / "cgroup").read_text()
    return ""
