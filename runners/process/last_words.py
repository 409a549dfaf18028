"""Word of a process that was ended since it could not renew its leases: no step of it is to blame.

A file beside the signs of life, for those on the machine who judge the process's end. Imports
nothing of Django.
"""

import time
from contextlib import suppress
from pathlib import Path

from runners.process.activity_slots import start_of
from runners.process.signs_of_life import folder

KEPT = 3600.0  # seconds for which the word is kept; the database may be out of reach for long


def leave(pid: int) -> None:
    """Say that the process is ended now, for its leases' sake."""
    with suppress(OSError):
        where = folder()
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        _forget_old(where)
        _word(pid, str(start_of(pid))).touch()


def left_by(pid: int, start: str) -> bool:
    """Whether the process of that id and start was ended for its leases' sake."""
    return _word(pid, start).exists()


def _word(pid: int, start: str) -> Path:
    return folder() / f"ended-itself-{pid}-{start}"


def _forget_old(where: Path) -> None:
    for path in where.glob("ended-itself-*"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > KEPT:
                path.unlink()
