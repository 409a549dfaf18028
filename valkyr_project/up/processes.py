"""The processes of a stack as a table: command, environment, when it is stopped.

All in all: web, three workers, beat, Flower. Their command lines are in
valkyr_project/processes/commands.py.
"""

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field

from valkyr_project.processes import commands
from valkyr_project.processes.commands import Pool, ProcessCommand
from valkyr_project.up.credentials import StackCredentials
from valkyr_project.up.options import Options

# A worker finishes what it can and gives back the rest (VALKYR_DRAIN_SECONDS); then it is pushed.
WORKER_STOP = ((signal.SIGTERM, 10.0), (signal.SIGQUIT, 3.0))
PLAIN_STOP = ((signal.SIGTERM, 7.0),)
# Requests under way when the stack stops; shorter than PLAIN_STOP.
WEB_GRACE_SECONDS = 5


@dataclass(frozen=True)
class ProcessSpec:
    """One process; `stop_stage` orders the end: 0 first."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_stage: int = 0
    stop_steps: tuple[tuple[signal.Signals, float], ...] = PLAIN_STOP


def specs(options: Options, credentials: StackCredentials) -> list[ProcessSpec]:
    """Every process of a stack, in the order they are named to the user."""
    return [
        _spec("web", commands.web("127.0.0.1", options.port, WEB_GRACE_SECONDS)),
        worker(options, "control", commands.pool_of("control")),
        worker(options, "default", Pool("prefork", options.concurrency)),
        worker(options, "io", commands.pool_of("io")),
        _spec("beat", commands.beat()),
        flower(options, credentials),
    ]


def worker(options: Options, queue: str, pool: Pool) -> ProcessSpec:
    """A worker of one queue; named after it, `control@host`."""
    program = commands.worker(queue, pool, task_events=options.task_events)
    return ProcessSpec(f"worker-{queue}", program.command, program.environment, 1, WORKER_STOP)


def flower(options: Options, credentials: StackCredentials) -> ProcessSpec:
    """What workers do, for operators; remembered from one start to the next."""
    program = commands.flower(
        "127.0.0.1",
        options.flower_port,
        f"{credentials.username}:{credentials.flower_password}",
        "--persistent=True",
        f"--db={options.home / 'flower' / 'state'}",
        "--state_save_interval=60000",
    )
    return ProcessSpec("flower", program.command, program.environment, 2)


def _spec(name: str, program: ProcessCommand) -> ProcessSpec:
    return ProcessSpec(name, program.command, program.environment)
