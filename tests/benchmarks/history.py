"""Outputs of 1 MiB in a payload store: the peak memory of the workers, and what the rows hold.

A second step reads each output. Then one step returns one large output, below the default of
VALKYR_PAYLOAD_STORE_LIMIT (64 MiB), which the worker holds in memory before it is stored.
"""

import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.benchmarks.options import Options
from tests.benchmarks.programs import Program, engine_worker
from tests.benchmarks.sides import Engine
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

OUTPUTS, ROUNDS = 10_000, 4
LARGE_MIB = 60
MEBIBYTE = 2**20
PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


@dataclass(frozen=True, slots=True)
class History:
    """MiB of the worker's largest child: its peak after each round, and with the large output."""

    outputs: int
    seconds: float
    peaks: list[float]
    stored: float
    database: float  # what the tables grew by
    large: float

    @property
    def growth(self) -> float:
        """The peak's growth from the first round, which warms the child, to the last."""
        return self.peaks[-1] - self.peaks[0]


def chain(mebibytes: int, *, read: bool) -> dict[str, Any]:
    """A step with an output of this size; with `read`, a step and the workflow's output read it."""
    large = {"mebibytes": mebibytes, "beginning": "{{ execution.id }}"}
    length = {"value": "{{ tasks.large.output.text | length }}"}
    reading = {"id": "read", "use": "bench.effect", "after": "large", "with": length}
    tasks = [{"id": "large", "use": "bench.large", "with": large}, *([reading] * read)]
    document = {"schema": "valkyr/1", "name": f"history of {mebibytes} MiB", "tasks": tasks}
    # A value above VALKYR_PAYLOAD_LOAD_LIMIT cannot be a workflow's output.
    return document | ({"output": "{{ tasks.large.output }}"} if read else {})


def measure(stage: Stage, options: Options) -> History:
    """Run the outputs in rounds through one child, then one large output through a new child."""
    os.environ["VALKYR_PAYLOAD_STORE"] = f"file://{stage.folder}/payloads"
    worker = stage.add(engine_worker(stage.folder, concurrency=1))
    engine = Engine(stage, worker)
    each = max(5, round(OUTPUTS * options.scale) // ROUNDS)
    workflow = engine.publish(chain(1, read=True))
    before, began, peaks = _database(), time.perf_counter(), []
    for number in range(ROUNDS):
        engine.run(workflow, each, 2)
        peaks.append(_peak(worker))
        say(f"{each * (number + 1):,} outputs of 1 MiB: peak {peaks[-1]:.1f} MiB")
    seconds = time.perf_counter() - began
    grown = _database() - before
    stored = sum(file.stat().st_size for file in Path(f"{stage.folder}/payloads").rglob("*-*"))
    stage.end(worker)
    worker = stage.add(engine_worker(stage.folder, concurrency=1))
    Engine(stage, worker).run(engine.publish(chain(LARGE_MIB, read=False)), 1, 1)
    large = _peak(worker)
    stage.end(worker)
    return History(each * ROUNDS, seconds, peaks, stored / MEBIBYTE, grown, large)


def report(found: History) -> None:
    """Print the figures."""
    print(
        f"{found.outputs:,} outputs of 1 MiB, each read by another step, in {found.seconds:.1f} s: "
        f"{found.stored:,.0f} MiB in the store, {found.database:.1f} MiB in the database"
    )
    peaks = ", ".join(f"{peak:.1f}" for peak in found.peaks)
    print(f"peak memory of the child after each quarter: {peaks} MiB; growth {found.growth:.1f}")
    print(f"peak memory of a new child with one output of {LARGE_MIB} MiB: {found.large:.1f} MiB")


def _peak(worker: Program) -> float:
    """Return the largest resident memory that a child of the worker has had, in MiB."""
    children = psutil.Process(worker.pid).children()
    texts = [Path(f"/proc/{child.pid}/status").read_text() for child in children]
    return max(int(found[1]) for text in texts if (found := PEAK.search(text))) / 1024


def _database() -> float:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return float(cursor.fetchone()[0]) / MEBIBYTE
