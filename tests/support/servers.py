"""PostgreSQL and Redis for one test session: in a temporary folder, on free ports, without
durability.

`VALKYR_TEST_DATABASE_URL` and `VALKYR_TEST_REDIS_URL`, alone or together, name running servers
instead, for developers who run tests often.
"""

import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path

from valkyr_project.embedded import Postgres, Redis

PREFIX = "valkyr-tests-"
NEW_SECONDS = 60.0


class TestServers:
    """The servers of this session; `start` exports their addresses."""

    __test__ = False

    def __init__(self) -> None:
        """Create the object; start nothing yet."""
        self._home: Path | None = None
        self._servers: list[Postgres | Redis] = []

    def start(self) -> None:
        """Start the servers that the environment does not name, and set DATABASE_URL and
        REDIS_URL.
        """
        database, redis = (
            os.environ.get(f"VALKYR_TEST_{name}_URL", "") for name in ("DATABASE", "REDIS")
        )
        if not (database and redis):
            self._home = _fresh_home()
        if self._home and not database:
            self._servers.append(Postgres(self._home, durable=False))
        if self._home and not redis:
            self._servers.append(Redis(self._home, durable=False))
        for server in self._servers:
            server.launch()
        for server in self._servers:
            server.wait()
            if isinstance(server, Postgres):
                database = server.url
            else:
                redis = server.url
        os.environ["DATABASE_URL"] = database
        os.environ["REDIS_URL"] = redis

    @property
    def own_database(self) -> bool:
        """Return whether the database server was started here, and ends with this session."""
        return any(isinstance(server, Postgres) for server in self._servers)

    def stop(self) -> None:
        """Stop the started servers and remove their folder."""
        while self._servers:
            self._servers.pop().stop()
        if self._home:
            _remove(self._home)
            self._home = None


def _fresh_home() -> Path:
    """Create a folder that the servers' account may enter; remove folders of killed sessions."""
    for old in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if _is_abandoned(old):
            _remove(old)
    home = Path(tempfile.mkdtemp(prefix=PREFIX))
    home.chmod(0o711)
    return home


def _is_abandoned(home: Path) -> bool:
    """Return whether both folders exist without a supervisor; False if that is uncertain.

    A new home is not touched: trying its locks would take them from the process that is about to
    lock it.
    """
    try:
        if time.time() - home.stat().st_mtime < NEW_SECONDS:
            return False
        for name in ("postgres", "redis"):
            with (home / name / "lock").open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(home: Path) -> None:
    for place in home.iterdir():
        if place.is_symlink():
            shutil.rmtree(place.resolve(), ignore_errors=True)
    shutil.rmtree(home, ignore_errors=True)
