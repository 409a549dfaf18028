"""Outputs of 1 MiB in a payload store: the peak memory of the workers, and the size of the rows.

A second step reads each output. Then one step returns one large output, below the default of
VALKYR_PAYLOAD_STORE_LIMIT (64 MiB), which its module holds in memory before it is stored. Then
large payloads of starts pass through a step to the output, and no step reads them. Finally, a
response of 1 GiB is streamed from `http.request` to a file, back, and through `data.csv_parse`.
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
from tests.benchmarks.sides import Engine, wait
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say
from tests.support.counterparts.large_csv import ROW, csv_server

OUTPUTS, ROUNDS = 10_000, 4
LARGE_MIB, STREAM_MIB, WARM_MIB = 60, 1024, 16
# Payloads of starts, above the load limit of 16 MiB.
PAYLOADS, PAYLOAD_MIB, LEAST_MIB = 4, 100, 20
MEBIBYTE = 2**20
PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


@dataclass(frozen=True, slots=True)
class MemoryGrowth:
    """MiB of a worker and of its child: before, and at the peak."""

    before: list[float]
    peak: list[float]

    def __str__(self) -> str:
        (worker, child), (worker_peak, child_peak) = self.before, self.peak
        return (
            f"child {child:.1f} MiB, at its peak {child_peak:.1f} (+{child_peak - child:.1f}); "
            f"worker {worker:.1f}, {worker_peak:.1f} (+{worker_peak - worker:.1f})"
        )


@dataclass(frozen=True, slots=True)
class History:
    """MiB of the worker's largest child: its peak after each round, and with the large output."""

    outputs: int
    seconds: float
    peaks: list[float]
    stored: float
    database: float  # what the tables grew by
    large: MemoryGrowth
    payload_mib: int
    payload_seconds: float  # of the starts, in this process
    payload: MemoryGrowth
    stream_mib: int
    stream: MemoryGrowth
    stream_seconds: float

    @property
    def growth(self) -> float:
        """The peak's growth from the first round, which warms up the child, to the last."""
        return self.peaks[-1] - self.peaks[0]


def chain(mebibytes: int, *, read: bool) -> dict[str, Any]:
    """Return a workflow whose step has an output of this size; with `read`, a step and the
    workflow's output read it.
    """
    large = {"mebibytes": mebibytes, "beginning": "{{ execution.id }}"}
    length = {"value": "{{ tasks.large.output.text | length }}"}
    reading = {"id": "read", "use": "bench.effect", "after": "large", "with": length}
    tasks = [{"id": "large", "use": "bench.large", "with": large}, *([reading] * read)]
    document = {"schema": "valkyr/1", "name": f"history of {mebibytes} MiB", "tasks": tasks}
    return document | {"output": "{{ tasks.large.output }}"}


def stream(address: str) -> dict[str, Any]:
    """Return a workflow whose steps pass a response on: to a file, from it, and to the rows of a
    CSV.
    """
    most, path = 2 * STREAM_MIB * MEBIBYTE, "{{ execution.id }}.csv"
    get = {"url": f"{address}/{{{{ input.n }}}}", "store": True, "maxBytes": most}
    put = {"path": path, "content": "{{ tasks.get.output.body }}"}
    back = {"path": path, "store": True, "maxBytes": most}
    rows = {"stored": "{{ tasks.back.output.content }}", "batchSize": 100_000}
    steps = [
        ("get", "http.request", get),
        ("put", "file.write", put),
        ("back", "file.read", back),
        ("rows", "data.csv_parse", rows),
    ]
    tasks = [
        {"id": name, "use": use, "with": given, "timeoutSeconds": 600, "after": before}
        for (name, use, given), before in zip(steps, [[], "get", "put", "back"], strict=True)
    ]
    output = "{{ tasks.rows.output.count }}"
    return {"schema": "valkyr/1", "name": "history streamed", "tasks": tasks, "output": output}


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
    large = _large(stage)
    started_mib = max(LEAST_MIB, min(PAYLOAD_MIB, round(PAYLOAD_MIB * options.scale)))
    start_seconds, started = _started(stage, started_mib)
    mebibytes = max(WARM_MIB, min(STREAM_MIB, round(STREAM_MIB * options.scale)))
    began = time.perf_counter()
    streamed = _streamed(stage, mebibytes)
    return History(
        each * ROUNDS, seconds, peaks, stored / MEBIBYTE, grown, large, started_mib, start_seconds,
        started, mebibytes, streamed, time.perf_counter() - began,
    )  # fmt: skip


def _large(stage: Stage) -> MemoryGrowth:
    worker = stage.add(engine_worker(stage.folder, concurrency=1))
    engine = Engine(stage, worker)
    engine.run(engine.publish(chain(2, read=False)), 5, 1)
    before = _forgotten(worker)
    engine.run(engine.publish(chain(LARGE_MIB, read=False)), 1, 1)
    found = MemoryGrowth(before, _peaks(worker))
    stage.end(worker)
    return found


def _started(stage: Stage, mebibytes: int) -> tuple[float, MemoryGrowth]:
    """Start executions with small payloads, which warm up the child, then executions with large
    ones; return the seconds and the growth.
    """
    from django.conf import settings
    from django.test import override_settings

    worker = stage.add(engine_worker(stage.folder, concurrency=1))
    task = {"id": "pass", "use": "flow.noop", "with": {"value": "{{ input }}"}}
    document = {"schema": "valkyr/1", "name": "history of payloads", "tasks": [task]}
    workflow = Engine(stage, worker).publish(document | {"output": "{{ tasks.pass.output }}"})
    more = {
        "PAYLOAD_STORE": os.environ["VALKYR_PAYLOAD_STORE"],
        "PAYLOAD_START_LIMIT": 2 * mebibytes * MEBIBYTE,
    }
    with override_settings(VALKYR={**settings.VALKYR, **more}):
        _run_started(stage, workflow, 1)
        before = _forgotten(worker)
        seconds = _run_started(stage, workflow, mebibytes)
    found = MemoryGrowth(before, _peaks(worker))
    stage.end(worker)
    return seconds, found


def _run_started(stage: Stage, workflow: Any, mebibytes: int) -> float:
    """Run executions with payloads of this size; return the seconds of their starts."""
    from executions.access.actor import Actor
    from executions.models import WorkflowExecution
    from executions.triggers.start import start_execution

    began, ids = time.perf_counter(), []
    for number in range(PAYLOADS):
        payload = {"n": f"{mebibytes} {number}", "text": "x" * mebibytes * MEBIBYTE}
        actor = Actor.system("benchmark")
        ids.append(start_execution(workflow, payload, actor=actor).execution.pk)
    seconds = time.perf_counter() - began
    found = WorkflowExecution.objects.filter(pk__in=ids)
    wait(lambda: not found.filter(finished_at=None).exists(), stage, 0.05, patience=600)
    ended = list(found)
    if any(one.state != "SUCCESS" or one.output != one.trigger_payload for one in ended):
        raise SystemExit(f"payloads did not pass: {[one.error_message for one in ended]}")
    return seconds


def _streamed(stage: Stage, mebibytes: int) -> MemoryGrowth:
    """Stream a small response, which warms up the child, then a large one; return the growth."""
    os.environ["VALKYR_FILES_ROOT"] = f"{stage.folder}/files"
    worker = stage.add(engine_worker(stage.folder, concurrency=1, queues="default,control,io"))
    engine = Engine(stage, worker)
    with csv_server() as address:
        workflow = engine.publish(stream(address))
        _run_streamed(stage, workflow, WARM_MIB)
        before = _forgotten(worker)
        _run_streamed(stage, workflow, mebibytes)
        found = MemoryGrowth(before, _peaks(worker))
    stage.end(worker)
    return found


def _run_streamed(stage: Stage, workflow: Any, mebibytes: int) -> None:
    from executions.access.actor import Actor
    from executions.models import WorkflowExecution
    from executions.triggers.start import start_batch

    rows = mebibytes * MEBIBYTE // ROW - 1  # and the line of names
    [started] = start_batch(workflow, [{"n": rows}], actor=Actor.system("benchmark"))
    found = WorkflowExecution.objects.filter(pk=started.pk)
    wait(lambda: not found.filter(finished_at=None).exists(), stage, 0.05, patience=3_600)
    ended = found.get()
    if (ended.state, ended.output) != ("SUCCESS", rows):
        raise SystemExit(f"the stream ended as {ended.state}: {ended.error_message}")


def report(found: History) -> None:
    """Print the figures."""
    print(
        f"{found.outputs:,} outputs of 1 MiB, each read by another step, in {found.seconds:.1f} s: "
        f"{found.stored:,.0f} MiB in the store, {found.database:.1f} MiB in the database"
    )
    peaks = ", ".join(f"{peak:.1f}" for peak in found.peaks)
    print(f"peak memory of the child after each quarter: {peaks} MiB; growth {found.growth:.1f}")
    print(f"one output of {LARGE_MIB} MiB, which its module holds: {found.large}")
    print(
        f"{PAYLOADS} payloads of starts of {found.payload_mib} MiB, passed on unread (started in "
        f"{found.payload_seconds:.1f} s): {found.payload}"
    )
    print(
        f"a response of {found.stream_mib:,} MiB, streamed four times in "
        f"{found.stream_seconds:.1f} s: {found.stream}"
    )


def _peak(worker: Program) -> float:
    """Return the largest resident memory that the worker's child has had, in MiB."""
    return _peaks(worker)[-1]


def _peaks(worker: Program) -> list[float]:
    """Return the largest resident memory of the worker and of its child, in MiB."""
    texts = [Path(f"/proc/{pid}/status").read_text() for pid in _processes(worker)]
    return [int(found[1]) / 1024 for text in texts if (found := PEAK.search(text))]


def _forgotten(worker: Program) -> list[float]:
    """Reset the peaks of the worker and of its child to their present memory; return them."""
    for pid in _processes(worker):
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    return _peaks(worker)


def _processes(worker: Program) -> list[int]:
    process = psutil.Process(worker.pid)
    return [process.pid, max(process.children(), key=lambda child: child.memory_info().rss).pid]


def _database() -> float:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return float(cursor.fetchone()[0]) / MEBIBYTE
