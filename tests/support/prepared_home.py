"""A stack's data folder with its tables, for tests that do not test a first start.

Creating the cluster and migrating takes four CPU seconds. If there is none for these migrations and
packages, it is created and stored beside pytest's cache; tests copy it from there.
"""

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import migrated
from tests.support.folders import passable_folder
from tests.support.stack import PROJECT, clean_environment
from valkyr_project.embedded import Postgres
from valkyr_project.embedded.account import server_account

KEPT = ("data", "password")


@contextmanager
def prepared_home(config: pytest.Config) -> Iterator[Path]:
    """Create a folder in which a stack can start; remove it at the end."""
    with passable_folder() as folder:
        home = folder / "home"
        if config.cache is not None:
            home.mkdir(mode=0o711)
            _fill(home / "postgres", config.cache.mkdir("homes"))
        yield home


def _fill(place: Path, homes: Path) -> None:
    """Copy the stored folder to the server's folder; create the stored one if there is none."""
    kept = homes / _fingerprint()
    with (homes / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            _make(kept)
    _copy(kept, place)


def _fingerprint() -> str:
    """Return a hash of what a stored folder depends on: its tables, and the way its server is
    created.
    """
    made = hashlib.sha256(migrated.fingerprint().encode())
    made.update(str(server_account()).encode())
    for file in sorted((PROJECT / "valkyr_project" / "embedded").glob("*.py")):
        made.update(file.read_bytes())
    return made.hexdigest()


def _make(kept: Path) -> None:
    """Create a server's folder with all tables and store it, completely or not at all; delete older
    ones.
    """
    for old in kept.parent.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
    fresh = kept.with_suffix(".new")
    with passable_folder() as home:
        server = Postgres(home, durable=False)
        try:
            _migrate(server.start())
        finally:
            server.stop()
        _copy(home / "postgres", fresh)
    fresh.rename(kept)


def _migrate(url: str) -> None:
    needed = {"DATABASE_URL": url, "REDIS_URL": "redis://127.0.0.1:1/0", "VALKYR_INSECURE_KEY": "1"}
    needed["VALKYR_PROCESS"] = "migrate"
    subprocess.run(
        [sys.executable, "-m", "valkyr_project.migrate"],
        cwd=PROJECT,
        env=clean_environment() | needed,
        stdout=subprocess.DEVNULL,
        check=True,
        timeout=120,
    )


def _copy(place: Path, to: Path) -> None:
    """Copy what a server's next start needs, with its ownership: the server's account owns the
    data.
    """
    to.mkdir(mode=0o711)
    subprocess.run(["cp", "-a", *(place / name for name in KEPT), to], check=True, timeout=120)
