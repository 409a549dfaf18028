"""Pruning: its speed, its cost for concurrent steps, and the cost of a turn that finds nothing.

The tables are filled with executions of five runs each that ended 400 days ago, and the same number
that must stay. W1e runs alone, then while a pruner works at a duty's pace.
"""

import threading
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

from tests.benchmarks import old_rows, shapes
from tests.benchmarks.options import Options
from tests.benchmarks.programs import engine_worker
from tests.benchmarks.sides import Engine
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

OLD, RUNS_EACH = 40_000, 5
EXECUTIONS = 100
EMPTY = 20
GOAL_EMPTY_MS = 50.0
# Every second one ended 400 days ago, the others in the last 29 days.
ENDED = """clock_timestamp() - interval '1 day' * CASE
    WHEN n %% 2 = 0 THEN 400 ELSE 1 + 28 * n::float / %(many)s END"""


@dataclass(frozen=True, slots=True)
class Pruned:
    """Steps per second of W1e alone and during pruning; the number of deleted rows, and the
    seconds.
    """

    alone: float
    beside: float
    executions: int
    runs: int
    seconds: float
    empty_ms: float
    kept: int


def measure(stage: Stage, options: Options) -> Pruned:
    """Fill the tables without analysing them, then run W1e alone and with a pruner."""
    worker = stage.add(engine_worker(stage.folder, concurrency=options.concurrency))
    engine = Engine(stage, worker)
    workflow = engine.publish(shapes.chain("bench.effect"))
    engine.run(workflow, 10, shapes.CHAIN)
    kept = _fill(max(1_000, round(OLD * options.scale)), engine)
    count = max(20, round(EXECUTIONS * options.scale))
    alone = engine.run(workflow, count, shapes.CHAIN).rate
    pruner = _Pruner()
    pruner.start()
    beside = engine.run(workflow, count, shapes.CHAIN).rate
    pruner.end()
    say(f"{alone:,.0f} steps/s alone, {beside:,.0f} beside a pruner")
    return Pruned(alone, beside, *pruner.done, pruner.seconds, _empty(), kept)


def report(found: Pruned) -> None:
    """Print the figures."""
    rows = found.executions + found.runs
    print(
        f"pruned {found.executions:,} executions with {found.runs:,} runs in {found.seconds:.1f} s "
        f"at the duty's pace: {rows / found.seconds:,.0f} rows a second\n"
        f"W1e: {found.alone:,.0f} steps/s alone, {found.beside:,.0f} beside it "
        f"({100 * (found.beside / found.alone - 1):+.0f} %)\n"
        f"nothing to prune among {found.kept:,} finished executions: {found.empty_ms:.1f} ms "
        f"(goal: {GOAL_EMPTY_MS:.0f} ms)"
    )


class _Pruner:
    """Prunes in a thread until it is stopped or nothing is left."""

    def __init__(self) -> None:
        self.done = (0, 0)
        self.seconds = 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._prune)

    def start(self) -> None:
        """Start pruning in the background."""
        self._thread.start()

    def end(self) -> None:
        """Stop after the current transaction."""
        self._stop.set()
        self._thread.join()

    def _prune(self) -> None:
        from django.db import connection

        from dlq.retention import executions
        from dlq.retention.batches import PruningPace
        from dlq.retention.executions import PruningPosition
        from dlq.retention.periods import as_set
        from executions.database.clock import database_now

        began = time.monotonic()
        pace = PruningPace(stopped=self._stop.is_set)
        tally, _ = executions.prune(as_set(database_now()), pace, PruningPosition())
        self.seconds = time.monotonic() - began
        self.done = (tally.rows, tally.parts["runs"])
        connection.close()


def _fill(many: int, engine: Engine) -> int:
    from executions.models import WorkflowExecution

    flow = engine.publish(shapes.single("bench.effect", {"value": "{{ input.n }}"}))
    engine.run(flow, 1, 1)
    pattern: Any = WorkflowExecution.objects.filter(workflow__name=flow.name).latest("created_at")
    old_rows.fill(pattern.pk, 2 * many, RUNS_EACH, ENDED)
    say(f"{2 * many:,} executions planted, half of them old")
    return many


def _empty() -> float:
    """Return the median milliseconds of a turn that finds nothing."""
    from dlq.retention import executions
    from dlq.retention.batches import PruningPace
    from dlq.retention.executions import PruningPosition
    from dlq.retention.periods import as_set
    from executions.database.clock import database_now

    while executions.prune(as_set(database_now()), PruningPace(rest=0.0), PruningPosition())[
        0
    ].rows:
        pass
    times = []
    for _ in range(EMPTY):
        began = time.perf_counter()
        executions.prune(as_set(database_now()), PruningPace(rest=0.0), PruningPosition())
        times.append(1000 * (time.perf_counter() - began))
    return median(times)
