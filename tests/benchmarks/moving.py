"""The move of a large workspace to another server: its length, and the pause of the workspace.

The workspace has finished executions with three runs each, and executions that sleep. Clients start
no executions meanwhile: `make chaos ARGS="--only workspace-moved"` shows a move under load.
"""

import json
import re
import sys
import time
from dataclasses import dataclass
from typing import Any

from tests.benchmarks import old_rows, programs, shapes, sides
from tests.benchmarks.cells import further
from tests.benchmarks.options import Options
from tests.benchmarks.programs import Program
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

FINISHED, RUNS_EACH, SLEEPING = 1_000_000, 3, 10_000
CELL = "b"
# In the last 29 days.
ENDED = "clock_timestamp() - interval '1 day' * (1 + 28 * n::float / %(many)s)"
PAUSE = re.compile(r"the pause was (\d+) ms")
GOAL_SECONDS = 5.0
PATIENCE = 3_600.0


@dataclass(frozen=True, slots=True)
class Moved:
    """The number of executions, the seconds of the move, and those of the pause."""

    finished: int
    sleeping: int
    seconds: float
    pause: float


def measure(stage: Stage, options: Options) -> Moved:
    """Fill a workspace, and move it with `valkyr_cells move`."""
    finished = max(1_000, round(FINISHED * options.scale))
    sleeping = max(100, round(SLEEPING * options.scale))
    worker = stage.add(programs.engine_worker(stage.folder, concurrency=options.concurrency))
    stage.add(programs.control_worker(stage.folder))
    stage.add(programs.beat(stage.folder))
    engine = sides.Engine(stage, worker)
    _fill(engine, stage, finished, sleeping)
    with further(stage, options, [CELL]) as servers:
        url = servers[CELL].url
        told, seconds = _move(stage, url)
    found = PAUSE.search(told)
    if found is None:
        raise RuntimeError(told)
    return Moved(finished, sleeping, seconds, int(found[1]) / 1000)


def _fill(engine: sides.Engine, stage: Stage, finished: int, sleeping: int) -> None:
    from executions.access.actor import Actor
    from executions.models import WorkflowExecution
    from executions.triggers.start import start_batch
    from runners.models import Run

    flow = engine.publish(shapes.single("bench.effect", {"value": "{{ input.n }}"}))
    engine.run(flow, 1, 1)
    pattern: Any = WorkflowExecution.objects.filter(workflow__name=flow.name).latest("created_at")
    old_rows.fill(pattern.pk, finished, RUNS_EACH, ENDED)
    sleeper = engine.publish(shapes.single("flow.delay", {"seconds": 86_400}))
    for first in range(0, sleeping, 500):
        inputs = [{"n": n} for n in range(first, min(first + 500, sleeping))]
        start_batch(sleeper, inputs, actor=Actor.system("benchmark"))
    asleep = Run.objects.filter(state="WAITING", finished_at=None)
    sides.wait(lambda: asleep.count() == sleeping, stage, 0.5, patience=PATIENCE)
    say(f"{finished:,} finished executions, {sleeping:,} asleep")


def _move(stage: Stage, url: str) -> tuple[str, float]:
    """Move the default workspace; return what the command says, and its seconds."""
    own = {"VALKYR_CELLS": json.dumps({CELL: url})}
    # A long pause is measured, and does not end the move.
    command = (sys.executable, "manage.py", "valkyr_cells", "move", "default", CELL)
    program = Program("move", (*command, "--pause", "120"), stage.folder, **own)
    began = time.monotonic()
    if program.wait(PATIENCE):
        raise RuntimeError(program.last_lines())
    return program.last_lines(), time.monotonic() - began


def report(found: Moved) -> None:
    """Print the figures."""
    say(
        f"moved {found.finished:,} finished executions with {found.finished * RUNS_EACH:,} runs, "
        f"and {found.sleeping:,} sleeping ones, in {found.seconds:.0f} s; the pause took "
        f"{found.pause:.1f} s (goal: {GOAL_SECONDS:.0f} s)"
    )
