"""Lists by label over ten million executions (`--scale 0.1`: a million).

`--lists groups,admin` measures only these sections. The target is 300 ms at the 95th percentile.
Ten million need 9 GB of disk. The CPU of this process and of its PostgreSQL session is printed too,
because a busy machine hardly changes it. A list that missed the target is requested once more, and
its slowest statement is printed.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.benchmarks import label_lists, label_rows
from tests.benchmarks.cpu import process_seconds
from tests.benchmarks.label_lists import Request
from tests.benchmarks.options import Options
from tests.benchmarks.quantiles import Quantiles, quantiles
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

EXECUTIONS = 10_000_000
ASKED = 40
TARGET_MS = 300
HEADING = (
    f"\n{'list, ms':42} {'as':14} {'rows':>4} {'p50':>7} {'p95':>7} {'web CPU':>8} {'db CPU':>7}"
    f"   p95 <= {TARGET_MS}"
)


@dataclass(frozen=True, slots=True)
class Timed:
    """Milliseconds of one list; `web` and `database` are the medians of the CPU time."""

    status: int
    rows: int
    times: Quantiles
    web: float
    database: float

    @property
    def met(self) -> bool:
        """Whether the list was returned in time."""
        return self.status == 200 and self.times.p95 <= TARGET_MS


def measure(stage: Stage, options: Options) -> bool:
    """Fill the tables, request each list, print a line for each; return whether all targets were
    met.
    """
    many = round(EXECUTIONS * options.scale)
    began = time.monotonic()
    label_rows.fill(many)
    say(f"{many:,} executions with two labels each in {time.monotonic() - began:.0f} s")
    for line in label_rows.sizes():
        print(line)
    # As in valkyr_project/asgi.py: else a collection examines the whole program, for 250 ms.
    gc.freeze()
    print(HEADING)
    verdicts = [_measured(request) for request in label_lists.requests(options.lists)]
    print(f"\n{sum(verdicts)} of {len(verdicts)} lists met p95 <= {TARGET_MS} ms")
    return all(verdicts)


def _measured(request: Request) -> bool:
    """Measure one list and print its line."""
    found = _timed(request.ask)
    name = f"{request.section}: {request.name}"
    verdict = "met" if found.met else f"MISSED ({found.status})"
    print(
        f"{name:42} {request.who:14} {found.rows:4} {found.times.p50:7.1f} {found.times.p95:7.1f} "
        f"{found.web:8.1f} {found.database:7.1f}   {verdict}",
        flush=True,
    )
    if not found.met:
        took, sql = _slowest(request.ask)
        print(f"    slowest statement, {took:.1f} ms: {' '.join(sql.split())[:600]}", flush=True)
    return found.met


def _timed(ask: Callable[[], Any]) -> Timed:
    """Return the status, the number of rows, and the milliseconds; the first request is a
    warm-up.
    """
    from django.core.cache import cache
    from django.db import connection

    answer = ask()
    times, web, database = [], [], []
    for _ in range(ASKED):
        cache.clear()
        connection.ensure_connection()
        backend = connection.connection.info.backend_pid
        clocks = time.perf_counter(), time.process_time(), process_seconds(backend)
        ask()
        times.append(1000 * (time.perf_counter() - clocks[0]))
        web.append(1000 * (time.process_time() - clocks[1]))
        database.append(1000 * (process_seconds(backend) - clocks[2]))
    return Timed(
        answer.status_code, label_lists.rows(answer), quantiles(times),
        quantiles(web).p50, quantiles(database).p50,
    )  # fmt: skip


def _slowest(ask: Callable[[], Any]) -> tuple[float, str]:
    """Return the milliseconds and the SQL of the slowest statement of a request."""
    from django.core.cache import cache
    from django.db import connection

    found: list[tuple[float, str]] = [(0.0, "")]

    def timed(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
        began = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            found.append((1000 * (time.perf_counter() - began), str(sql)))

    cache.clear()
    with connection.execute_wrapper(timed):
        ask()
    return max(found)
