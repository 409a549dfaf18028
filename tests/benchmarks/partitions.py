"""Partitions of the runs' table: their CPU for a step, and the retention of old runs.

W1e, W2e and single steps run in turns with and without partitions, in one process and database. So
the quotient of their medians does not depend on other load. The number of partitions covers a month
of days and the days ahead. Then old executions fill some days, and retention deletes them.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any

from tests.benchmarks import old_rows, shapes
from tests.benchmarks.options import Options
from tests.benchmarks.programs import engine_worker
from tests.benchmarks.sides import Engine
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

PARTITIONS = 45
CHAINS, FANS, SINGLES = 100, 40, 1_000
WARM_UP = 4  # a quarter of the work: every statement has its kept plan by then
RUNS, RUNS_EACH, DAYS = 1_000_000, 4, 5
GOAL = 1.05
ENDED = "%(begins)s::timestamptz + (n::float / %(many)s) * %(days)s * interval '1 day'"


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of CPU for a step without and with partitions: medians of the turns."""

    name: str
    off: float
    on: float
    postgres_off: float
    postgres_on: float

    @property
    def ratio(self) -> float:
        """The CPU with partitions, divided by the CPU without."""
        return self.on / self.off


@dataclass(frozen=True, slots=True)
class Retention:
    """The retention of old executions: seconds with and without partitions, and of the drops
    alone. `off` is None if it was not measured.
    """

    executions: int
    runs: int
    off: float | None
    on: float
    drop: float


def measure(stage: Stage, options: Options) -> tuple[list[Cost], Retention]:
    """Measure the steps, then the retention."""
    from runners.partitions.naming import KEPT_SECONDS

    worker = stage.add(engine_worker(stage.folder, concurrency=options.concurrency))
    engine = Engine(stage, worker)
    works = {
        "W1e": (engine.publish(shapes.chain("bench.effect")), CHAINS, shapes.CHAIN),
        "W2e": (engine.publish(shapes.fan("bench.effect")), FANS, shapes.FAN + 2),
        "single": (
            engine.publish(shapes.single("bench.effect", {"value": "{{ input.n }}"})),
            SINGLES,
            1,
        ),
    }
    if options.runs:
        engine.run(works["single"][0], 1, 1)
        stage.end(worker)
        return [], _retention(options, works["single"][0])
    used: dict[str, dict[bool, list[tuple[float, float]]]] = {
        name: {False: [], True: []} for name in works
    }
    for turn in range(options.pairs):
        for on in (turn % 2 == 0, turn % 2 == 1):
            _switch(on=on)
            time.sleep(KEPT_SECONDS)  # the worker reads the partitions again afterwards
            for name, (workflow, executions, steps) in works.items():
                count = max(8, round(executions * options.scale))
                engine.run(workflow, max(8, count // WARM_UP), steps)
                done = engine.run(workflow, count, steps)
                each = 1000 / (count * steps)
                used[name][on].append((done.usage.total * each, done.usage.postgres * each))
        say(f"turn {turn + 1} of {options.pairs}")
    costs = [
        Cost(name, *(_median(found, on, part) for part in (0, 1) for on in (False, True)))
        for name, found in used.items()
    ]
    stage.end(worker)
    return costs, _retention(options, works["single"][0])


def report(found: tuple[list[Cost], Retention]) -> None:
    """Print the costs and the retention."""
    costs, kept = found
    if costs:
        _report_steps(costs)
    off = "" if kept.off is None else f"{kept.off:.1f} s row by row, "
    print(
        f"retention of {kept.executions:,} executions with {kept.runs:,} runs: {off}"
        f"{kept.on:.1f} s with partitions, of which the drop of {DAYS} days took {kept.drop:.2f} s"
    )


def _report_steps(costs: list[Cost]) -> None:
    print(f"CPU for a step with {PARTITIONS} partitions, medians of all turns")
    print(f"{'':8} {'off ms':>8} {'on ms':>8} {'ratio':>7} {'PostgreSQL off':>15} {'on':>8}")
    for one in costs:
        print(
            f"{one.name:8} {one.off:8.3f} {one.on:8.3f} {one.ratio:7.3f} "
            f"{one.postgres_off:15.3f} {one.postgres_on:8.3f}"
        )
    print(f"goal: at most {GOAL:.2f}")


def _median(found: dict[bool, list[tuple[float, float]]], on: bool, part: int) -> float:
    return statistics.median(one[part] for one in found[on])


def _switch(*, on: bool) -> None:
    from runners.partitions import switching, upkeep
    from runners.partitions.layout import layout
    from runners.partitions.short_locks import ATTEMPTS

    if not on:
        switching.turn_off()
        return
    switching.turn_on()
    upkeep.add_ahead(attempts=ATTEMPTS)
    while len(now := layout().ranges) < PARTITIONS:
        last = now[-1].ends
        assert last is not None
        upkeep.add(last, last + upkeep.DAY, attempts=ATTEMPTS)


def _retention(options: Options, workflow: Any) -> Retention:
    from django.db import connection

    from executions.database.clock import database_now
    from executions.models import WorkflowExecution
    from runners.models import Run
    from runners.partitions import upkeep
    from runners.partitions.layout import layout

    pattern = WorkflowExecution.objects.filter(workflow=workflow).latest("created_at").pk
    many = (options.runs or max(400, round(RUNS * options.scale))) // RUNS_EACH
    today = database_now().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    begins = today - timedelta(days=60)
    ends = begins + timedelta(days=DAYS)

    def fill() -> None:
        old_rows.fill(pattern, many, RUNS_EACH, ENDED, before=ends, begins=begins, days=DAYS)

    off = None
    _switch(on=False)
    if not options.runs:
        fill()
        off, _ = _timed(_prune)
    _switch(on=True)
    with connection.cursor() as cursor:
        # The first partition, of all that ran before, ends where the days to be dropped begin.
        first = layout().ranges[0]
        cursor.execute(f"DELETE FROM {first.name} WHERE execution_id <> %s", [pattern])
        cursor.execute(f"ALTER TABLE runners_run DETACH PARTITION {first.name}")
    day = begins
    while day < today + timedelta(days=2):
        upkeep.add(day, day + upkeep.DAY)
        day += upkeep.DAY
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO runners_run SELECT * FROM {first.name}")
        cursor.execute(f"DROP TABLE {first.name}")
    fill()
    runs = Run.objects.filter(execution__finished_at__lt=ends).count()
    on, drop = _timed(_prune)
    return Retention(many, runs, off, on, drop)


def _timed(work: Callable[[], float]) -> tuple[float, float]:
    began = time.monotonic()
    part = work()
    return time.monotonic() - began, part


def _prune() -> float:
    """Delete all that is due without pauses; return the seconds of the drops."""
    from dlq.retention import executions
    from dlq.retention.batches import PruningPace
    from dlq.retention.executions import PruningPosition
    from dlq.retention.periods import as_set
    from dlq.retention.run_partitions import RunPartitions
    from executions.database.clock import database_now

    took = 0.0
    usual = RunPartitions.drop

    def drop(self: RunPartitions) -> list[str]:
        nonlocal took
        began = time.monotonic()
        try:
            return usual(self)
        finally:
            took = time.monotonic() - began

    RunPartitions.drop = drop  # type: ignore[method-assign]
    try:
        executions.prune(as_set(database_now()), PruningPace(rest=0.0), PruningPosition())
    finally:
        RunPartitions.drop = usual  # type: ignore[method-assign]
    return took
