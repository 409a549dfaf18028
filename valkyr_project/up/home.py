"""The data folder of a stack; a lock ensures that only one running stack uses the folder.

`running.json` gives other programs (and a second `make up`) the stack's address; it is valid only
while the lock is held.
"""

import fcntl
import json
import os
import time
from pathlib import Path
from typing import IO, Any

from valkyr_project.embedded.folders import write_private
from valkyr_project.up.options import UpError


class Home:
    """An open data folder; it is released by `close` or at the end of the process."""

    def __init__(self, path: Path, lock: IO[str]) -> None:
        """Store the folder and its lock. Call `open_home` instead."""
        self.path = path
        self.logs = path / "logs"
        self._lock = lock

    def announce(self, facts: dict[str, Any]) -> None:
        """Write the stack's announcement (see `running`) to a file that only its owner can read."""
        write_private(self.path / "running.json", json.dumps(facts, indent=2) + "\n")

    def close(self) -> None:
        """Release the folder for the next start."""
        (self.path / "running.json").unlink(missing_ok=True)
        self._lock.close()


def open_home(path: Path) -> Home:
    """Create and lock the folder, and return it.

    Raises UpError if a stack already runs in the folder, or if the folder cannot be used.
    """
    try:
        # If root starts the servers, their account must be able to enter the folder.
        path.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)
        for private in ("logs", "flower"):
            (path / private).mkdir(mode=0o700, exist_ok=True)
        lock = (path / "lock").open("a+")
    except OSError as error:
        raise UpError(
            f"The data folder {path} cannot be used: {error.strerror}. Set VALKYR_HOME to a "
            "folder that you can write to."
        ) from None
    if not _locked(lock):
        lock.close()
        raise UpError(_already_running(path))
    (path / "running.json").unlink(missing_ok=True)  # of a stack that was killed
    return Home(path, lock)


def _locked(lock: IO[str]) -> bool:
    """Return whether the lock was acquired. Waits briefly, because `running` may hold the lock."""
    for _ in range(20):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(0.02)
        else:
            return True
    return False


def running(path: Path) -> dict[str, Any] | None:
    """Return the announcement of the stack running in `path`; None if no stack is running.

    The announcement's keys are pid, url, flower_url, database_url, redis_url and ready. It is empty
    until the stack writes it.
    """
    try:
        with (path / "lock").open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except OSError:
        return announced(path)
    return None


def announced(path: Path) -> dict[str, Any]:
    """Return the last announcement, even if its process has ended; {} if there is none."""
    try:
        facts = json.loads((path / "running.json").read_text())
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _already_running(path: Path) -> str:
    facts = announced(path)
    where = f" at {facts['url']} (process {facts.get('pid')})" if "url" in facts else ""
    return (
        f"Valkyr already runs in {path}{where}. Stop it there with Ctrl-C, or start a second one "
        "with other VALKYR_HOME, PORT and FLOWER_PORT."
    )
