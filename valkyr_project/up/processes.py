"""The processes of a stack as a table: their commands, environments and stop order.

They are web, three workers, beat and Flower. Their command lines are in
valkyr_project/processes/commands.py.
"""

import json
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from valkyr_project.embedded.child import free_port
from valkyr_project.processes import commands
from valkyr_project.processes.commands import Pool, ProcessCommand
from valkyr_project.up.environment import StackCredentials
from valkyr_project.up.options import Options

# Signals and seconds: a worker finishes what it can and returns the rest (VALKYR_DRAIN_SECONDS);
# then it is forced to end.
WORKER_STOP = ((signal.SIGTERM, 10.0), (signal.SIGQUIT, 3.0))
PLAIN_STOP = ((signal.SIGTERM, 7.0),)
# Seconds for requests that are running when the stack stops; shorter than PLAIN_STOP.
WEB_GRACE_SECONDS = 5


@dataclass(frozen=True)
class ProcessSpec:
    """One process of a stack; processes with `stop_stage` 0 are stopped first."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_stage: int = 0
    stop_steps: tuple[tuple[signal.Signals, float], ...] = PLAIN_STOP


def specs(options: Options, credentials: StackCredentials) -> list[ProcessSpec]:
    """Return every process of a stack, in the order in which they are shown."""
    return [
        _spec("web", commands.web("127.0.0.1", options.port, WEB_GRACE_SECONDS)),
        worker(options, "control", commands.pool_of("control")),
        worker(options, "default", Pool("prefork", options.concurrency)),
        worker(options, "io", commands.pool_of("io")),
        _spec("beat", commands.beat()),
        flower(options, credentials),
    ]


def worker(options: Options, queue: str, pool: Pool) -> ProcessSpec:
    """Return the worker process of one queue; its Celery node has a name such as `control@host`."""
    program = commands.worker(queue, pool, task_events=options.task_events)
    return ProcessSpec(f"worker-{queue}", program.command, program.environment, 1, WORKER_STOP)


def flower(options: Options, credentials: StackCredentials) -> ProcessSpec:
    """Return the Flower process, which keeps its data between starts."""
    program = commands.flower(
        "127.0.0.1",
        options.flower_port,
        f"{credentials.username}:{credentials.flower_password}",
        "--persistent=True",
        f"--db={options.home / 'flower' / 'state'}",
        "--state_save_interval=60000",
    )
    return ProcessSpec("flower", program.command, program.environment, 2)


def probes(options: Options) -> ProcessCommand:
    """Return the command of the process that probes the other processes."""
    return ProcessCommand(
        (sys.executable, "-m", "valkyr_project.up.probes", options.web_url, options.flower_url)
    )


def _spec(name: str, program: ProcessCommand) -> ProcessSpec:
    return ProcessSpec(name, program.command, program.environment)


# Addresses where Prometheus finds each process of a stack. Workers and beat get a free port each.
#
# The addresses are in a file that Prometheus reloads (`file_sd_configs`). So users need not choose
# ports, and two stacks on one machine do not conflict.


FILE = Path("metrics") / "targets.json"


def served(table: Sequence[ProcessSpec], options: Options) -> list[ProcessSpec]:
    """Return the processes, with a port for metrics added to each worker and to beat.

    Also writes the file of scrape targets.
    """
    counting = [spec.name for spec in table if spec.name.startswith(("worker", "beat"))]
    ports = {name: free_port() for name in counting}
    _write(options.home / FILE, {"web": options.port} | ports)
    return [_with_port(spec, ports.get(spec.name)) for spec in table]


def _with_port(spec: ProcessSpec, port: int | None) -> ProcessSpec:
    if port is None:
        return spec
    return replace(spec, environment={**spec.environment, "VALKYR_METRICS_PORT": str(port)})


def _write(path: Path, ports: dict[str, int]) -> None:
    path.parent.mkdir(exist_ok=True)
    targets = [
        {"targets": [f"127.0.0.1:{port}"], "labels": {"process": name}}
        for name, port in ports.items()
    ]
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(targets, indent=2) + "\n")
    fresh.replace(path)  # atomically: Prometheus may read at any time
