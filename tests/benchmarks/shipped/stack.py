"""A stack exactly as `make up` starts it, in its own folder, seen from outside.

Only its ports, folder, administrator and measuring modules are set; everything else is as for a
user. Memory and CPU count the supervisor and all its descendants.
"""

import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import psutil

from tests.benchmarks.cpu import process_seconds
from tests.benchmarks.programs import PROJECT
from valkyr_project.embedded.child import free_port, start_child, stop
from valkyr_project.up.home import announced

PATIENCE = 240.0
OTHERS = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "PORT", "FLOWER_PORT")
PREFIXES = ("VALKYR_", "CELERY_", "RUNNER_", "FLOWER_", "BENCH_")
ACCOUNT = {"username": "bench", "password": "bench-" + "p" * 20}
# How programs that hide their environment call themselves.
TITLES = {
    "postgres": "postgres",
    "valkey-server": "redis",
    "celery beat": "beat",
    "valkyr_project.http.server": "web",
    "celery_command flower": "flower",
    **{f"celeryd: {queue}@": f"worker-{queue}" for queue in ("control", "default", "io")},
}


class RunningStack:
    """A running stack; `account` signs in to it."""

    def __init__(self, home: Path, pid: int, account: Mapping[str, str]) -> None:
        self.home, self.pid, self.account = home, pid, account

    @property
    def facts(self) -> dict[str, Any]:
        """Return the values that the stack announced: url, database_url, redis_url and more."""
        return announced(self.home)

    def cpu(self) -> dict[str, float]:
        """Return CPU seconds until now, by process; children count with their parents."""
        found: dict[str, float] = defaultdict(float)
        for pid, name in self._owners().items():
            found[name] += process_seconds(pid)
        return found

    def memory(self) -> dict[str, float]:
        """Return MiB (PSS) by process; a shared page counts in parts, so the sum is correct."""
        found: dict[str, float] = defaultdict(float)
        for pid, name in self._owners().items():
            try:
                found[name] += psutil.Process(pid).memory_full_info().pss / 2**20
            except psutil.NoSuchProcess:
                continue
        return found

    def _owners(self) -> dict[int, str]:
        """Return the name of each process; a process without one has its parent's."""
        top = psutil.Process(self.pid)
        found = {top.pid: "supervisor"}
        for process in top.children(recursive=True):
            try:
                found[process.pid] = _name(process) or found.get(process.ppid(), "supervisor")
            except psutil.NoSuchProcess:
                continue
        return found


class ShippedStack(RunningStack):
    """A stack started for the block, from its readiness to its end."""

    def __init__(self, home: Path, concurrency: int) -> None:
        super().__init__(home, 0, ACCOUNT)
        self._log = home.with_name(home.name + ".log")
        self._environment = _environment(home, concurrency)

    def __enter__(self) -> Self:
        self.home.mkdir(mode=0o711, exist_ok=True)
        with self._log.open("ab") as log:
            self._child = start_child(
                (sys.executable, "-m", "valkyr_project.up"),
                cwd=PROJECT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is ours: we end it in order
                death_signal=signal.SIGTERM,
            )
        self.pid = self._child.pid
        try:
            self._wait_until_ready()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while not self.facts.get("ready"):
            if self._child.poll() is not None or time.monotonic() > deadline:
                said = self._log.read_text()[-3000:]
                raise RuntimeError(f"the stack did not start:\n{said}")
            time.sleep(0.2)

    def _stop(self) -> None:
        stop(self._child, ((signal.SIGTERM, 60.0),))


def _environment(home: Path, concurrency: int) -> dict[str, str]:
    own = {
        name: value
        for name, value in os.environ.items()
        if name not in OTHERS and not name.startswith(PREFIXES)
    }
    return own | {
        "VALKYR_HOME": str(home),
        "VALKYR_ADMIN_USERNAME": ACCOUNT["username"],
        "VALKYR_ADMIN_PASSWORD": ACCOUNT["password"],
        "VALKYR_EXTRA_MODULES": "tests.benchmarks.modules",
        "PORT": str(free_port()),
        "FLOWER_PORT": str(free_port()),
        "RUNNER_CONCURRENCY": str(concurrency),
    }


def _name(process: psutil.Process) -> str:
    """Return the stack's name for a process, if it has one."""
    words = " ".join(process.cmdline())
    if title := next((name for sign, name in TITLES.items() if sign in words), ""):
        return title
    try:
        return str(process.environ().get("VALKYR_PROCESS", ""))
    except psutil.AccessDenied:
        return ""


def largest_first(found: Mapping[str, float]) -> dict[str, float]:
    """Sort the values in descending order, for tables."""
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))
