"""The archive of a million executions (`--scale 0.1`: a hundred thousand), in a folder.

Executions of three runs each, which ended on ten different days, are archived. Then some of them
are opened, and DuckDB counts all of them. A million executions need 15 GB of disk. The target for
opening one is 5 s.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from tests.benchmarks import old_rows, shapes
from tests.benchmarks.options import Options
from tests.benchmarks.programs import engine_worker
from tests.benchmarks.sides import Engine
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

EXECUTIONS, RUNS_EACH, OPENED = 1_000_000, 3, 100
TARGET_SECONDS = 5.0
ENDED = "clock_timestamp() - interval '1 day' * (400 + n %% 10)"
INDEX_SIZE = "SELECT pg_total_relation_size('valkyr_archive_archivedexecution')"
TABLES_SIZE = """
SELECT pg_total_relation_size('executions_workflowexecution')
     + pg_total_relation_size('runners_run')
"""
COUNT = "SELECT count(*), sum(duration_ms) FROM runs WHERE state = 'SUCCESS'"


@dataclass(frozen=True, slots=True)
class ArchivedFigures:
    """The duration of each part, and the sizes of the results."""

    executions: int
    files: int
    seconds: float
    megabytes: float
    table_megabytes: float
    index_bytes_each: float
    opened: list[float]
    counted: float


def measure(stage: Stage, options: Options) -> ArchivedFigures:
    """Fill the tables, archive all executions, open some, and count them by SQL."""
    worker = stage.add(engine_worker(stage.folder, concurrency=options.concurrency))
    engine = Engine(stage, worker)
    many = max(1_000, round(EXECUTIONS * options.scale))
    _fill(many, engine)
    with TemporaryDirectory(prefix="valkyr-bench-") as folder:
        from django.test import override_settings

        with override_settings(VALKYR={"ARCHIVE": f"file://{folder}"}):
            return _measured(many, Path(folder))


def report(found: ArchivedFigures) -> None:
    """Print the figures."""
    opened = sorted(found.opened)
    middle, late = opened[len(opened) // 2], opened[round(len(opened) * 0.95) - 1]
    verdict = "met" if opened[-1] < TARGET_SECONDS else "MISSED"
    print(
        f"archived {found.executions:,} executions in {found.files} files: {found.seconds:,.1f} s, "
        f"{found.executions / found.seconds:,.0f} a second\n"
        f"files {found.megabytes:,.1f} MB, tables before {found.table_megabytes:,.1f} MB, index "
        f"{found.index_bytes_each:,.0f} bytes an execution\n"
        f"opening one: median {middle * 1000:,.0f} ms, p95 {late * 1000:,.0f} ms, longest "
        f"{opened[-1] * 1000:,.0f} ms (goal: {TARGET_SECONDS:.0f} s, {verdict})\n"
        f"counting all runs by SQL: {found.counted:,.2f} s"
    )


def _measured(many: int, folder: Path) -> ArchivedFigures:
    from executions.models import Workspace
    from valkyr_plugins.archive import archiving, reading
    from valkyr_plugins.archive.asking import ArchiveQuestion, ask
    from valkyr_plugins.archive.models import ArchivedExecution

    tables = _scalar(TABLES_SIZE)
    began = time.monotonic()
    done = archiving.turn(seconds=10**9)
    while done.more:
        again = archiving.turn(seconds=10**9)
        done.files, done.more = done.files + again.files, again.more
        done.executions += again.executions
    seconds = time.monotonic() - began
    assert done.executions >= many, done
    say(f"{done.executions:,} executions archived")
    ids = list(ArchivedExecution.objects.values_list("pk", flat=True))
    opened = []
    for pk in Random(7).sample(ids, OPENED):
        began = time.monotonic()
        assert len(reading.load(pk).runs) >= 1
        opened.append(time.monotonic() - began)
    began = time.monotonic()
    workspaces = list(Workspace.objects.values_list("pk", flat=True))
    ask(ArchiveQuestion(statement=COUNT, workspaces=workspaces, seconds=600))
    counted = time.monotonic() - began
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    index = _scalar(INDEX_SIZE) / done.executions
    return ArchivedFigures(
        done.executions, done.files, seconds, size / 1e6, tables / 1e6, index, opened, counted
    )


def _fill(many: int, engine: Engine) -> None:
    from executions.models import WorkflowExecution

    flow = engine.publish(shapes.single("bench.effect", {"value": "{{ input.n }}"}))
    engine.run(flow, 1, 1)
    pattern: Any = WorkflowExecution.objects.filter(workflow__name=flow.name).latest("created_at")
    old_rows.fill(pattern.pk, many, RUNS_EACH, ENDED)
    say(f"{many:,} executions planted")


def _scalar(statement: str) -> float:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement)
        return float(cursor.fetchone()[0])
