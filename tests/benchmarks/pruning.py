"""Pruning: its speed, its cost for concurrent steps, and the cost of finding nothing.

The tables are filled with executions of five runs each that ended 400 days ago, and as many that
must stay. W1e runs alone, then while a pruner works at a duty's pace.
"""

import threading
import time
from dataclasses import dataclass
from statistics import median
from typing import Any

from tests.benchmarks import shapes
from tests.benchmarks.options import Options
from tests.benchmarks.programs import engine_worker
from tests.benchmarks.sides import Engine
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

OLD, RUNS_EACH = 40_000, 5
EXECUTIONS = 100
EMPTY = 20
GOAL_EMPTY_MS = 50.0

FILL = """
INSERT INTO executions_workflowexecution
SELECT r.*
  FROM executions_workflowexecution AS e
 CROSS JOIN generate_series(1, %(many)s) AS n
 CROSS JOIN LATERAL (SELECT clock_timestamp() - interval '1 day' * CASE
                            WHEN n %% 2 = 0 THEN 400 ELSE 1 + 28 * n::float / %(many)s END AS at) x
 CROSS JOIN LATERAL jsonb_populate_record(
       e, jsonb_build_object('id', uuidv7(x.at - clock_timestamp()), 'created_at', x.at,
                             'started_at', x.at, 'finished_at', x.at)) AS r
 WHERE e.id = %(pattern)s
"""
FILL_RUNS = """
INSERT INTO runners_run
SELECT r.*
  FROM executions_workflowexecution AS e
 CROSS JOIN generate_series(1, %(each)s) AS n
  JOIN runners_run AS p ON p.execution_id = %(pattern)s
 CROSS JOIN LATERAL jsonb_populate_record(
       p, jsonb_build_object('id', uuidv7(e.finished_at - clock_timestamp()),
                             'execution_id', e.id, 'step_path', 's' || n || '.main',
                             'queued_at', e.created_at, 'started_at', e.created_at,
                             'finished_at', e.finished_at)) AS r
 WHERE e.finished_at < clock_timestamp() - interval '1 hour'
"""


@dataclass(frozen=True, slots=True)
class Pruned:
    """Steps per second of W1e alone and during pruning; what the pruner deleted, and how fast."""

    alone: float
    beside: float
    executions: int
    runs: int
    seconds: float
    empty_ms: float
    kept: int


def measure(stage: Stage, options: Options) -> Pruned:
    """Fill the tables, analyse nothing, then run W1e alone and with a pruner."""
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
    """Print it."""
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
        """In the background."""
        self._thread.start()

    def end(self) -> None:
        """After the current transaction."""
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
    from django.db import connection

    from executions.models import WorkflowExecution

    flow = engine.publish(shapes.single("bench.effect", {"value": "{{ input.n }}"}))
    engine.run(flow, 1, 1)
    pattern: Any = WorkflowExecution.objects.filter(workflow__name=flow.name).latest("created_at")
    told = {"many": 2 * many, "pattern": pattern.pk, "each": RUNS_EACH}
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET synchronous_commit = off")
        cursor.execute(FILL, told)
        cursor.execute(FILL_RUNS, told)
        cursor.execute("VACUUM ANALYZE executions_workflowexecution")
        cursor.execute("VACUUM ANALYZE runners_run")
        cursor.execute("RESET statement_timeout; RESET synchronous_commit")
    say(f"{2 * many:,} executions planted, half of them old")
    return many


def _empty() -> float:
    """Milliseconds of a turn that finds nothing: the median."""
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
