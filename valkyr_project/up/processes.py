"""The processes of a stack as a table: command, environment, when it is stopped.

All in all: web, three workers, beat, Flower. Reasons for the workers' flags are in docs/celery.md.
"""

import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from valkyr_project.up.credentials import Credentials
from valkyr_project.up.options import Options

# A warm shutdown finishes what runs; a cold one gives messages back; steps cut off by the end of
# the time are taken over through their leases.
WORKER_STOP = ((signal.SIGTERM, 10.0), (signal.SIGQUIT, 3.0))
PLAIN_STOP = ((signal.SIGTERM, 7.0),)
CELERY = (sys.executable, "-m", "celery", "--quiet", "-A", "valkyr_project")
# Its steps wait for others: 256 calls of two seconds are 128 a second. A thread that waits costs
# some 60 KB and no database connection; those of a process come from a pool (VALKYR_POOL_SIZE).
IO_THREADS = 256
# Nobody reads gossip; mingle waits a second at every start for revoked ids we never use.
WORKER = ("--without-gossip", "--without-mingle", "--loglevel", "WARNING")


@dataclass(frozen=True)
class ProcessSpec:
    """One process; `stop_stage` orders the end: 0 first."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_stage: int = 0
    stop_steps: tuple[tuple[signal.Signals, float], ...] = PLAIN_STOP


def specs(options: Options, credentials: Credentials) -> list[ProcessSpec]:
    """Every process of a stack, in the order they are named to the user."""
    concurrency = str(options.concurrency)
    return [
        web(options),
        worker(options, "control", "--pool", "threads", "--concurrency", "4"),
        worker(options, "default", "--pool", "prefork", "--concurrency", concurrency),
        worker(options, "io", "--pool", "threads", "--concurrency", str(IO_THREADS)),
        beat(),
        flower(options, credentials),
    ]


def web(options: Options) -> ProcessSpec:
    """Admin, API and health, over ASGI."""
    command = (
        *(sys.executable, "-m", "uvicorn", "valkyr_project.asgi:application"),
        *("--host", "127.0.0.1", "--port", str(options.port), "--lifespan", "off"),
        *("--timeout-graceful-shutdown", "5", "--log-level", "warning", "--no-server-header"),
        # uvicorn would believe whoever calls from this machine; our own list decides.
        "--no-proxy-headers",
        # Nothing is asked of who watches over a WebSocket; uvicorn would take 16 MiB at once.
        *("--ws-max-size", "65536"),
    )
    # Each request has a thread of its own under ASGI: connections come from a pool.
    return ProcessSpec("web", command, {"VALKYR_PROCESS": "web", "VALKYR_POOL": "threads"})


def worker(options: Options, queue: str, *pool: str) -> ProcessSpec:
    """A worker of one queue; named after it, `control@host`."""
    # Flower shows what workers report: 0.5 ms of processor time and 2 KB of Redis a message (a
    # segment, not a step), which halves the throughput of segments that do nothing.
    events = ("--task-events",) if options.task_events else ()
    command = (*CELERY, "worker", "-n", f"{queue}@%h", "-Q", queue, *pool, *WORKER, *events)
    environment = {
        "VALKYR_PROCESS": f"worker-{queue}",
        "VALKYR_POOL": "threads" if "threads" in pool else "prefork",
    }
    return ProcessSpec(f"worker-{queue}", command, environment, 1, WORKER_STOP)


def beat() -> ProcessSpec:
    """The clock: pokes the sweeper and the schedules."""
    command = (*CELERY, "beat", "--loglevel", "WARNING", "--pidfile", "")
    return ProcessSpec("beat", command, {"VALKYR_PROCESS": "beat"})


def flower(options: Options, credentials: Credentials) -> ProcessSpec:
    """What workers do, for operators; read-only, behind a password."""
    command = (
        *(*CELERY, "flower", "--address=127.0.0.1", f"--port={options.flower_port}"),
        *("--read_only=True", "--max_tasks=10000"),
        *(
            "--persistent=True",
            f"--db={options.home / 'flower' / 'state'}",
            "--state_save_interval=60000",
        ),
    )
    environment = {
        "VALKYR_PROCESS": "flower",
        # It warns of every worker that is still starting, which tells nobody anything.
        "VALKYR_LOG_LEVEL": "ERROR",
        # Not on the command line, which every user of the machine can read.
        "FLOWER_BASIC_AUTH": f"{credentials.username}:{credentials.flower_password}",
    }
    return ProcessSpec("flower", command, environment, 2)
