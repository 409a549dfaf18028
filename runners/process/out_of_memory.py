"""Whether memory ran out when a child was killed, and whether that child had taken it.

The kernel's OOM killer ends a process of its choice, and not always the one that took the memory:
isolated steps go first, and a process outside may have taken it. Only the parent sees the most that
a child ever held, at its end; it judges, and leaves word for those who look after the child's run.
Imports nothing of Django.
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
# What a step of its own accord takes, above what its process was born with; less ends no machine.
LEAST = 64 * 1024
MOMENT = 2.0  # seconds in which several may be killed for one shortage
KEPT = 600.0  # seconds for which the word about an end is kept
# The fields of a process's `stat` after its name.
_STATE, _PARENT, _START, _PAGES = 0, 1, 19, 21


@dataclass(frozen=True, slots=True)
class Shortage:
    """A child was killed while memory was short; `took` says that the child had taken it."""

    took: bool
    cause: str = ""


UNKNOWN = Shortage(took=False)


class KillWatch:
    """Whether the OOM killer has ended any process on this machine of late."""

    def __init__(self, seconds: float = MOMENT) -> None:
        """`seconds` is for how long a kill counts."""
        self._seconds = seconds
        self._seen = kills()
        self._until = 0.0

    def short(self) -> bool:
        """Whether it ended any since the last look, or a moment ago."""
        found, now = kills(), time.monotonic()
        if found != self._seen:
            self._seen, self._until = found, now + self._seconds
        return now < self._until

    def look(self) -> None:
        """Forget what was killed up to now: it was no child of this process."""
        self._seen = kills()


class ChildDeaths(KillWatch):
    """Judges the deaths of this process's own children."""

    def __init__(self) -> None:
        """Nothing was killed yet."""
        super().__init__()
        self._peaks: list[tuple[float, int]] = []

    def judge(self, pid: int, peak: int) -> Shortage:
        """Whether a killed child that held at most `peak` KiB took more than anybody else."""
        now = time.monotonic()
        self._peaks = [(at, held) for at, held in self._peaks if now - at < MOMENT]
        before = max((held for _, held in self._peaks), default=0)
        self._peaks.append((now, peak))
        mine, biggest, others_ended = _around(pid)
        # Of another child that was killed and not reaped, nobody knows what it held.
        if others_ended or peak - mine < LEAST or peak < max(biggest, before):
            return UNKNOWN
        return Shortage(
            took=True,
            cause=f"its process was ended by SIGKILL (out of memory): it held {peak // 1024} MiB, "
            "more than any other process here",
        )


def kills() -> int:
    """How many processes the kernel's OOM killer has ended on this machine; 0 if it cannot tell."""
    with suppress(OSError):
        for line in (PROC / "vmstat").read_text().splitlines():
            name, _, number = line.partition(" ")
            if name == "oom_kill":
                return int(number)
    return 0


# A pool reaps within five seconds; until then nobody knows what its child held.
of_late = KillWatch(10.0).short


def tell(pid: int, start: str, found: Shortage) -> None:
    """Leave word about the end of the child that had that id and start."""
    with suppress(OSError):
        where = folder()
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        _forget_old(where)
        fresh = where / f".killed-{pid}"
        fresh.write_text(json.dumps(asdict(found)))
        fresh.replace(_word(pid, start))


def told(pid: int, start: str) -> Shortage | None:
    """What the parent of that process said of its end; None where memory was not short."""
    try:
        return Shortage(**json.loads(_word(pid, start).read_text()))
    except (OSError, ValueError, TypeError):
        return None


def start_of(pid: int) -> str:
    """When the process started, in clock ticks since boot, of one not yet reaped as well."""
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
    """KiB of this process and of the biggest other one; whether another child of it has ended.

    Where a cgroup limits the memory, only its processes can have taken it.
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
