"""The cost of a million finished executions for the hot path.

There are two databases on one server, one of them filled by SQL with rows as the engine leaves
them. An engine runs on each, alternately, and each starts first in turn. The result is judged on
CPU milliseconds per step.
"""

import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median

import psycopg

from tests.benchmarks import databases
from tests.benchmarks.cast import Cast
from tests.benchmarks.filling import fill
from tests.benchmarks.options import Options
from tests.benchmarks.side import Side
from tests.benchmarks.sides import Repetition
from tests.benchmarks.talk import say

EXECUTIONS = 1_000_000
RUNS_EACH = 2
AT_ONCE = 200  # executions a repetition
PAIRS = 5
WORKLOADS = ("W1e", "W1p")
# The part itself uses the fresh database's Redis; the sides take two others.
REDIS = {"empty": 5, "full": 6}


@dataclass(frozen=True, slots=True)
class Change:
    """CPU milliseconds per step with empty and with full tables: medians, and the pairs'
    changes.
    """

    empty: float
    full: float
    engine: float  # change of the engine's share: workers and publisher
    database: float
    pairs: list[float]
    change: float  # the median of the pairs'


@dataclass(frozen=True, slots=True)
class Full:
    """The changes by workload."""

    executions: int
    runs: int
    filling: float  # seconds
    size_mb: float  # of the filled database
    workloads: dict[str, Change] = field(default_factory=dict)


def measure(cast: Cast, options: Options) -> Full:
    """Fill one database, then measure both alternately."""
    many = max(10_000, round(EXECUTIONS * options.scale))
    full = os.environ["DATABASE_URL"]
    began = time.monotonic()
    fill(many, RUNS_EACH)
    filling, size = time.monotonic() - began, _megabytes(full)
    say(f"full: {many:,} executions, {many * RUNS_EACH:,} runs, {size:,.0f} MB in {filling:.0f} s")
    found = Full(many, many * RUNS_EACH, filling, size)
    with ExitStack() as stack:
        empty = stack.enter_context(databases.fresh(full, "bench_full_empty"))
        sides = {
            name: stack.enter_context(
                Side(
                    cast,
                    name=name,
                    database=url,
                    redis=REDIS[name],
                    concurrency=options.concurrency,
                )
            )
            for name, url in (("empty", empty), ("full", full))
        }
        executions = max(20, round(AT_ONCE * min(1.0, 2 * options.scale)))
        for workload in WORKLOADS:
            found.workloads[workload] = _by_turns(sides, workload, executions, options)
    return found


def _by_turns(sides: dict[str, Side], workload: str, executions: int, options: Options) -> Change:
    made: dict[str, list[Repetition]] = {"empty": [], "full": []}
    for side in sides.values():
        side.run(workload, max(10, executions // 4))
    for number in range(2 if options.quick else max(PAIRS, options.pairs)):
        for name in ("empty", "full") if number % 2 else ("full", "empty"):
            made[name].append(sides[name].run(workload, executions))
    found = change(made["empty"], made["full"])
    say(
        f"full {workload}: {found.empty:.3f} ms CPU a step over empty tables, {found.full:.3f} "
        f"over full ones: {found.change:+.1%}"
    )
    return found


def change(empty: list[Repetition], full: list[Repetition]) -> Change:
    """Return the extra cost with full tables, from the pairs of repetitions."""
    pairs = [two.cpu_ms / one.cpu_ms - 1 for one, two in zip(empty, full, strict=True)]

    def more(part: str) -> float:
        shares = [
            getattr(two, part) / getattr(one, part) for one, two in zip(empty, full, strict=True)
        ]
        return median(shares) - 1

    return Change(
        median([one.cpu_ms for one in empty]),
        median([one.cpu_ms for one in full]),
        more("engine_ms"),
        more("database_ms"),
        pairs,
        median(pairs),
    )


def _megabytes(url: str) -> float:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return float(row[0]) / 1e6 if row else 0.0
