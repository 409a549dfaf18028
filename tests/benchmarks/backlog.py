"""A backlog of 100,000 single-step executions, created while no worker runs, and then processed.

growing.py explains how it grows. Beat and the sweeper run throughout. The rate of each tenth comes
from the rows' own times. The CPU of each tenth is read from /proc five times a second, without
queries to the database.
"""

import threading
from dataclasses import dataclass
from typing import Any

from tests.benchmarks import shapes
from tests.benchmarks.cast import Cast
from tests.benchmarks.growing import grow
from tests.benchmarks.options import Options
from tests.benchmarks.programs import beat, control_worker, engine_worker
from tests.benchmarks.sides import Engine, wait
from tests.benchmarks.talk import say
from tests.benchmarks.tenths import Clock, spread, tenths
from tests.benchmarks.ticks import longest

EXECUTIONS = 100_000
SAMPLE = 500  # per tenth, started by the engine
LEAST = 2_000
PATIENCE = 900.0


@dataclass(frozen=True, slots=True)
class Backlog:
    """Steps per second and CPU milliseconds per step of each tenth; milliseconds of the duties."""

    executions: int
    growing: list[float]  # executions accepted per second, by tenth
    rates: list[float]
    cpu_ms: list[float]
    workers_ms: list[float]  # of cpu_ms: the workers of steps
    database_ms: list[float]
    ticks: dict[str, float]
    doubled: int  # messages sent more than once

    @property
    def spread(self) -> float:
        """The largest relative distance of a tenth from the mean rate."""
        return spread(self.rates)

    @property
    def cpu_spread(self) -> float:
        """The largest relative distance of a tenth from the mean CPU per step."""
        return spread(self.cpu_ms)


def measure(cast: Cast, options: Options) -> Backlog:
    """Grow the backlog, then start the workers."""
    many = max(LEAST, round(EXECUTIONS * options.scale))
    cast.add(control_worker(cast.folder, timed=True))
    cast.add(beat(cast.folder))
    engine = Engine(cast, cast.programs[0])
    workflow = engine.publish(shapes.single("bench.effect", {"value": "{{ input.n }}"}))
    growing = grow(workflow, many, SAMPLE)
    say(f"backlog: {many:,} executions wait; starting workers")
    worker = cast.add(engine_worker(cast.folder, concurrency=options.concurrency, queues="default"))
    clock = Clock(worker.pid, cast.postgres.pid, cast.redis.pid)
    stop = threading.Event()
    watching = threading.Thread(target=clock.run, args=(stop,))
    watching.start()
    try:
        wait(lambda: not _running(workflow), cast, 0.5, PATIENCE)
    finally:
        stop.set()
        watching.join()
    ends = _ends(workflow, many)
    found = tenths(ends, clock)
    result = Backlog(
        many, growing, found.rates, found.cpu_ms, found.workers_ms, found.database_ms,
        longest(), _doubled(workflow),
    )  # fmt: skip
    say(
        f"backlog: {many / (ends[-1] - ends[0]):,.0f} steps/s, tenths within {result.spread:.0%}, "
        f"CPU a step within {result.cpu_spread:.0%}"
    )
    return result


def _running(workflow: Any) -> bool:
    from executions.models import WorkflowExecution

    return bool(
        WorkflowExecution.objects.filter(
            workflow=workflow, state="RUNNING", finished_at=None
        ).exists()
    )


def _ends(workflow: Any, many: int) -> list[float]:
    """Return when each execution ended, in order. Raise RuntimeError if one did not succeed."""
    from executions.models import WorkflowExecution

    rows = WorkflowExecution.objects.filter(workflow=workflow, state="SUCCESS")
    ends = sorted(at.timestamp() for at in rows.values_list("finished_at", flat=True))
    if len(ends) != many:
        raise RuntimeError(f"{len(ends):,} of {many:,} executions succeeded")
    return ends


def _doubled(workflow: Any) -> int:
    from runners.models import Run

    return int(Run.objects.filter(execution__workflow=workflow, publications__gt=1).count())
