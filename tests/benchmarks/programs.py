"""The processes of a benchmark: workers of both sides, the web server, the slow partner."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from valkyr_project.embedded.child import start_child, stop
from valkyr_project.processes.commands import CELERY, WORKER

PROJECT = Path(__file__).resolve().parents[2]
STOP_STEPS = ((signal.SIGTERM, 10.0), (signal.SIGQUIT, 5.0))
PLAIN = (sys.executable, "-m", "celery", "--quiet", "-A", "tests.benchmarks.plain")


class Program:
    """One child process with its output in a file."""

    def __init__(self, name: str, command: tuple[str, ...], folder: Path, **more: str) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        with self.log.open("ab") as output:
            self._child = start_child(
                command,
                cwd=PROJECT,
                env=os.environ | {"PYTHONUNBUFFERED": "1"} | more,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                death_signal=signal.SIGTERM,
            )

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._child.pid

    def check(self) -> None:
        """Raise if the process has ended."""
        if self._child.poll() is not None:
            raise RuntimeError(f"{self.name} ended:\n{self.last_lines()}")

    def wait(self, seconds: float) -> int:
        """Wait for a program that ends without a signal; return its exit code."""
        return self._child.wait(seconds)

    def last_lines(self) -> str:
        """Return the last lines of the program's log."""
        return self.log.read_text()[-3000:]

    def stop(self) -> None:
        """Ask the program to end, and wait for its end."""
        stop(self._child, STOP_STEPS)


def engine_worker(
    folder: Path,
    *,
    concurrency: int,
    queues: str = "default,control",
    name: str = "engine",
    **own: str,
) -> Program:
    """Start a worker for the engine's steps and chord bodies, with prefork children, as `make up`
    does.
    """
    command = (
        *(*CELERY, "worker", "-n", f"{name}@%h", "-Q", queues, "--pool", "prefork"),
        *("--concurrency", str(concurrency), *WORKER, "-I", "tests.benchmarks.modules"),
    )
    more: Mapping[str, str] = {"VALKYR_PROCESS": "worker-default", "VALKYR_POOL": "prefork", **own}
    return Program(f"{name}-worker", command, folder, **more)


def control_worker(folder: Path, *, timed: bool = False) -> Program:
    """Start the worker of the sweeper as `make up` does; `timed` records each duty's duration."""
    command = (
        *(*CELERY, "worker", "-n", "control@%h", "-Q", "control", "--pool", "threads"),
        *("--concurrency", "4", *WORKER, *(("-I", "tests.benchmarks.ticks") if timed else ())),
    )
    more = {"VALKYR_PROCESS": "worker-control", "VALKYR_POOL": "threads"}
    return Program("control-worker", command, folder, **more)


def beat(folder: Path) -> Program:
    """Start beat, which calls the sweeper."""
    command = (*CELERY, "beat", "--loglevel", "WARNING", "--pidfile", "")
    return Program("beat", command, folder, VALKYR_PROCESS="beat")


def engine_io_worker(folder: Path, *, threads: int) -> Program:
    """Start the engine's worker for steps that wait, as `make up` does."""
    command = (
        *(*CELERY, "worker", "-n", "io@%h", "-Q", "io", "--pool", "threads"),
        *("--concurrency", str(threads), *WORKER),
    )
    more = {"VALKYR_PROCESS": "worker-io", "VALKYR_POOL": "threads"}
    return Program("engine-io-worker", command, folder, **more)


def plain_worker(
    folder: Path, *, concurrency: int, pool: str = "prefork", late: bool = False
) -> Program:
    """Start plain Celery with the same pool and its defaults; with `late` it acknowledges after the
    task.
    """
    command = (
        *(*PLAIN, "worker", "-n", f"plain-{pool}@%h", "-Q", f"plain-{pool}", "--pool", pool),
        *("--concurrency", str(concurrency), *WORKER),
    )
    more = {"BENCH_PLAIN_LATE": "1"} if late else {}
    return Program(f"plain-{pool}", command, folder, **more)


def web(
    folder: Path,
    port: int,
    *,
    processes: int = 1,
    settings: str = "valkyr_project.settings",
    **own: str,
) -> Program:
    """Start the API as `make up` does, or in several processes, or with other settings."""
    command = (
        *(sys.executable, "-m", "uvicorn", "valkyr_project.asgi:application"),
        *("--host", "127.0.0.1", "--port", str(port), "--lifespan", "off"),
        *("--log-level", "warning", "--no-server-header", "--workers", str(processes)),
    )
    more = {"VALKYR_PROCESS": "web", "VALKYR_POOL": "threads", "DJANGO_SETTINGS_MODULE": settings}
    return Program("web", command, folder, **(more | own))


def slow_partner(folder: Path, port: int) -> Program:
    """Start a server that answers each call after two seconds."""
    command = (sys.executable, "-m", "tests.benchmarks.slow_partner", str(port))
    return Program("slow-partner", command, folder)
