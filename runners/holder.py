"""Who holds a lease: this process, named so that others on the machine can tell if it is gone.

A process id alone says nothing after a restart or in another container; boot, pid namespace and
start time together do. Where any of them is unknown or differs, nobody is declared gone.
"""

import os
import socket
from functools import lru_cache
from pathlib import Path

SEPARATOR = "|"


@lru_cache(maxsize=8)
def _holder(pid: int) -> str:
    name = f"{os.environ.get('RUNNER_ID') or 'process@' + socket.gethostname()}"
    return SEPARATOR.join([name[:90], str(pid), started(pid), _namespace(), _boot()])


def holder() -> str:
    """This process: `name|pid|start|pid namespace|boot`."""
    return _holder(os.getpid())


def gone(other: str) -> bool:
    """Whether that holder's process certainly ended."""
    parts = other.split(SEPARATOR)
    if len(parts) != 5 or not all(parts):
        return False
    _, pid, start, namespace, boot = parts
    if (namespace, boot) != (_namespace(), _boot()) or not pid.isdigit():
        return False
    return started(int(pid)) != start


def started(pid: int) -> str:
    """When the process started, in clock ticks since boot; empty when it is none or a zombie."""
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
