"""The command lines of all processes, for `make up`, containers and units.

docs/explanation/celery.md explains the workers' flags.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from executions import environment as env

CELERY = (sys.executable, "-m", "valkyr_project.messaging.celery_command")
# Without gossip, which is not used, and mingle, which waits 1 s at every start for revoked IDs,
# which Valkyr never uses.
WORKER = ("--without-gossip", "--without-mingle", "--loglevel", "WARNING")
# Threads of a worker for `io`, whose steps wait for other systems: 256 calls of 2 s are 128 per
# second. A waiting thread costs about 60 KB and no database connection, because a process's
# connections come from a pool (VALKYR_POOL_SIZE).
IO_THREADS = 256
# Threads of the worker for `control`. They mostly wait for PostgreSQL, so a few threads serve the
# whole installation.
CONTROL_THREADS = 4
MOST_PROCESSES = 10
# Seconds for which the web process keeps an idle connection. This must be longer than in a proxy
# (nginx: 60), because a proxy's next request can fail on a connection that the server closes first.
KEEP_ALIVE = 75


@dataclass(frozen=True)
class ProcessCommand:
    """The command line of a process, and the variables added to its environment."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Pool:
    """The pool of a worker: its `kind` (`threads` or `prefork`) and its concurrency."""

    kind: str
    size: int


def pool_of(queue: str) -> Pool:
    """Return the default pool: threads for control, io and VALKYR_THREAD_QUEUES, else processes."""
    if queue == "control":
        return Pool("threads", CONTROL_THREADS)
    if queue == "io" or queue in env.words("VALKYR_THREAD_QUEUES"):
        return Pool("threads", IO_THREADS)
    return Pool("prefork", min(MOST_PROCESSES, os.cpu_count() or 1))


def web(host: str, port: int, grace: int) -> ProcessCommand:
    """Return the command of the web process: the admin, the API and health checks over ASGI.

    The process has `grace` seconds to stop.
    """
    command = (
        *(sys.executable, "-m", "valkyr_project.http.server", "valkyr_project.asgi:application"),
        *("--host", host, "--port", str(port), "--lifespan", "off"),
        *("--timeout-graceful-shutdown", str(grace), "--log-level", "warning"),
        *("--timeout-keep-alive", str(KEEP_ALIVE)),
        # uvicorn would trust any caller from this machine; Valkyr has its own list of trusted
        # proxies.
        *("--no-server-header", "--no-proxy-headers"),
        # Viewers send nothing over a WebSocket, but uvicorn would accept messages of 16 MiB.
        *("--ws-max-size", "65536"),
    )
    # Under ASGI, each request has a separate thread, so connections come from a pool.
    return ProcessCommand(command, {"VALKYR_PROCESS": "web", "VALKYR_POOL": "threads"})


def worker(queues: str, pool: Pool, *, task_events: bool) -> ProcessCommand:
    """Return the command of a worker; `queues`, separated by commas, are also the worker's name.

    In the environment of a cell, the queues are the cell's own: `b:io` for `io`.

    With `task_events`, the worker always reports each message to Flower; otherwise only while
    Flower requests it. A report costs the worker 0.5 ms of processor time and 2 KB of Redis per
    message (a segment, not a step). This halves the throughput of empty segments.
    """
    if cell := env.text("VALKYR_CELL"):
        queues = ",".join(f"{cell}:{queue}" for queue in queues.split(","))
    name = queues.replace(",", "-").replace(":", ".")
    events = ("--task-events",) if task_events else ()
    command = (
        *(*CELERY, "worker", "-n", f"{name}@%h", "-Q", queues),
        *("--pool", pool.kind, "--concurrency", str(pool.size), *WORKER, *events),
    )
    return ProcessCommand(command, {"VALKYR_PROCESS": f"worker-{name}", "VALKYR_POOL": pool.kind})


def reports_always(task_events: str) -> bool:
    """Return whether this value of `VALKYR_TASK_EVENTS` makes workers always report to Flower."""
    return task_events.strip().lower() not in env.FALSE


def beat() -> ProcessCommand:
    """Return the command of beat, which triggers the sweeper and the schedules.

    If several beats run, they elect one.
    """
    command = (*CELERY, "beat", "--loglevel", "WARNING", "--pidfile", "")
    return ProcessCommand(command, {"VALKYR_PROCESS": "beat"})


def flower(host: str, port: int, sign_in: str, *options: str) -> ProcessCommand:
    """Return the command of Flower, which is read-only and asks for `sign_in` (`user:password`).

    Flower itself would request reports from every worker every five seconds;
    `messaging/flower_viewers.py` requests them only while a user views Flower.
    """
    command = (
        *(*CELERY, "flower", f"--address={host}", f"--port={port}"),
        *("--read_only=True", "--enable_events=False", "--max_tasks=10000", *options),
    )
    environment = {
        "VALKYR_PROCESS": "flower",
        # Flower warns of every worker that is still starting, which is useless.
        "VALKYR_LOG_LEVEL": "ERROR",
        # A variable, because every user of the machine can read the command line.
        "FLOWER_BASIC_AUTH": sign_in,
    }
    return ProcessCommand(command, environment)


def migrate(*options: str) -> ProcessCommand:
    """Return the command that migrates the tables; several processes may run it concurrently."""
    command = (sys.executable, "-m", "valkyr_project.migrate", *options)
    return ProcessCommand(command, {"VALKYR_PROCESS": "migrate"})
