"""What `make up` costs while nothing happens: memory (PSS) and CPU, by process.

PSS counts a page that several processes share in parts, so the sum is what the machine gives.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from tests.benchmarks.cpu import tree_seconds
from tests.benchmarks.options import Options
from tests.benchmarks.programs import PROJECT
from tests.benchmarks.talk import say
from valkyr_project.embedded.child import free_port
from valkyr_project.up.home import announced

SETTLE = 20.0  # seconds after everything is ready
SECONDS = 20.0
PATIENCE = 240.0
SERVERS = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "PORT", "FLOWER_PORT")


@dataclass(frozen=True, slots=True)
class Idle:
    """MiB (PSS) and per cent of one core, by process; children count with their parents."""

    memory: dict[str, float]
    cpu: dict[str, float]

    @property
    def total(self) -> float:
        """MiB of everything."""
        return sum(self.memory.values())

    @property
    def burnt(self) -> float:
        """Per cent of one core of everything."""
        return sum(self.cpu.values())


def measure(options: Options) -> Idle:
    """Start a stack in a folder thrown away, let it rest, look, stop it."""
    seconds = SECONDS if not options.quick else 10.0
    with TemporaryDirectory(prefix="valkyr-idle-") as name:
        home = Path(name)
        home.chmod(0o711)
        stack = subprocess.Popen(
            (sys.executable, "-m", "valkyr_project.up"),
            cwd=PROJECT,
            env=_environment(home, options),
            stdout=(home / "up.log").open("wb"),
            stderr=subprocess.STDOUT,
        )
        try:
            _wait_until_ready(stack, home)
            time.sleep(SETTLE)
            found = _look(psutil.Process(stack.pid), seconds)
        finally:
            stack.send_signal(signal.SIGTERM)
            stack.wait(90)
    say(f"idle: {found.total:,.0f} MiB, {found.burnt:.1f} % of a core")
    return found


def _environment(home: Path, options: Options) -> dict[str, str]:
    own = {
        name: value
        for name, value in os.environ.items()
        if name not in SERVERS and not name.startswith(("VALKYR_", "CELERY_", "RUNNER_", "BENCH_"))
    }
    return own | {
        "VALKYR_HOME": str(home),
        "PORT": str(free_port()),
        "FLOWER_PORT": str(free_port()),
        "RUNNER_CONCURRENCY": str(options.concurrency),
    }


def _wait_until_ready(stack: "subprocess.Popen[bytes]", home: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not announced(home).get("ready"):
        if stack.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the stack did not start:\n{(home / 'up.log').read_text()[-3000:]}")
        time.sleep(0.2)


def _look(stack: psutil.Process, seconds: float) -> Idle:
    parts = {_name(child): child for child in stack.children()}
    before = {name: tree_seconds(child.pid) for name, child in parts.items()}
    own, began = tree_seconds(stack.pid), time.monotonic()
    time.sleep(seconds)
    took = time.monotonic() - began
    cpu = {name: _per_cent(child, before[name], took) for name, child in parts.items()}
    memory = {
        name: _memory([child, *child.children(recursive=True)]) for name, child in parts.items()
    }
    everything = 100 * (tree_seconds(stack.pid) - own) / took
    memory["supervisor"] = _memory([stack])
    cpu["supervisor"] = max(0.0, everything - sum(cpu.values()))
    return Idle(_largest_first(memory), _largest_first(cpu))


def _name(process: psutil.Process) -> str:
    """What the stack calls it; servers have no such name."""
    try:
        called = process.environ().get("VALKYR_PROCESS", "")
    except psutil.AccessDenied:
        called = ""
    # A server's environment is its own; a worker's is hidden once it renames itself.
    words = " ".join(process.cmdline())
    known = {"postgres": "postgres", "valkey-server": "redis", "celery beat": "beat"}
    known |= {f"celeryd: {queue}@": f"worker-{queue}" for queue in ("control", "default", "io")}
    found = next((name for sign, name in known.items() if sign in words), "")
    return called or found or process.name()


def _memory(processes: list[psutil.Process]) -> float:
    return float(sum(process.memory_full_info().pss for process in processes)) / 2**20


def _per_cent(process: psutil.Process, before: float, seconds: float) -> float:
    return 100 * (tree_seconds(process.pid) - before) / seconds


def _largest_first(found: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))
