"""The identity of a lease's holder, which shows other local processes whether the holder has ended.

A process ID alone is not unique after a restart or in another container; with boot, PID namespace
and start time, it identifies a process. If one of them is unknown, or if the boot or the namespace
differs, the process is not declared gone.

A process that executes one step at a time also names its parent: if the parent is still running,
the process alone has ended. A process whose threads execute many steps names no parent.
"""

import os
import socket
from functools import lru_cache
from pathlib import Path

from runners.conf import LONGEST_NAME, pool, worker_name
from runners.process import last_words, out_of_memory

SEPARATOR = "|"
SHARED, ALONE, ISOLATED = 5, 7, 8  # numbers of parts in a holder's name


class _Process:
    isolated = False


@lru_cache(maxsize=8)
def _holder(pid: int) -> str:
    name = worker_name() or f"process@{socket.gethostname()}"[:LONGEST_NAME]
    facts = [name, str(pid), started(pid), _namespace(), _boot()]
    if pool() != "threads":
        facts += [str(os.getppid()), started(os.getppid())]
    if _Process.isolated:
        facts.append("isolated")
    return SEPARATOR.join(facts)


def process_identity() -> str:
    """Return this process as `name|pid|start|pid namespace|boot`.

    A process that executes one step at a time adds `|parent|parent's start`, and `|isolated` if it
    is isolated.
    """
    return _holder(os.getpid())


def of_a_worker() -> bool:
    """Return whether a worker runs this process; other workers may then take over its steps."""
    return bool(worker_name())


def isolate() -> None:
    """Record that a worker waits for this process and decides why it ended."""
    _Process.isolated = True


def gone(other: str) -> bool:
    """Return whether the holder's process has certainly ended."""
    parts = other.split(SEPARATOR)
    if not _is_here(parts) or not parts[1].isdigit():
        return False
    return started(int(parts[1])) != parts[2]


def lives(other: str) -> bool:
    """Return whether the holder's process is certainly still running, and thus was only slow."""
    parts = other.split(SEPARATOR)
    return _is_here(parts) and parts[1].isdigit() and started(int(parts[1])) == parts[2]


def shared(other: str) -> bool:
    """Return whether the holder may have executed several runs concurrently; True if not known."""
    return len(other.split(SEPARATOR)) < ALONE


def awaited(other: str) -> bool:
    """Return whether a worker waits for the holder's process and decides why it ended."""
    return len(other.split(SEPARATOR)) == ISOLATED and parent_lives(other)


def parent_lives(other: str) -> bool:
    """Return whether the process that started the holder certainly lives; False if unknown."""
    parts = other.split(SEPARATOR)
    if len(parts) < ALONE or not _is_here(parts) or not parts[5].isdigit():
        return False
    return started(int(parts[5])) == parts[6]


def unreaped(other: str) -> bool:
    """Return whether the ended holder is a zombie, which its living parent has not yet reaped."""
    parts = other.split(SEPARATOR)
    if len(parts) < ALONE or not gone(other) or not parent_lives(other):
        return False
    return out_of_memory.start_of(int(parts[1])) == parts[2]


def shortage_at_end(other: str) -> out_of_memory.Shortage | None:
    """Return the memory shortage that the holder's parent noted at the holder's end, or None."""
    parts = other.split(SEPARATOR)
    return out_of_memory.told(int(parts[1]), parts[2])


def ended_itself(other: str) -> bool:
    """Return whether the holder recorded its own end, because it could not renew its leases."""
    parts = other.split(SEPARATOR)
    return _is_here(parts) and parts[1].isdigit() and last_words.left_by(int(parts[1]), parts[2])


def pid_of(other: str) -> int | None:
    """Return the holder's process ID; None if the holder's identity contains none."""
    parts = other.split(SEPARATOR)
    return int(parts[1]) if len(parts) >= SHARED and parts[1].isdigit() else None


def _is_here(parts: list[str]) -> bool:
    """Return whether the holder's process can be inspected: same boot, same PID namespace."""
    if len(parts) not in {SHARED, ALONE, ISOLATED} or not all(parts):
        return False
    return (parts[3], parts[4]) == (_namespace(), _boot())


def started(pid: int) -> str:
    """Return a process's start, in clock ticks since boot; "" if it has ended or is a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


@lru_cache(maxsize=1)
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:13]
    except OSError:
        return ""


@lru_cache(maxsize=1)
def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink()).strip("pid:[]")
    except OSError:
        return ""
