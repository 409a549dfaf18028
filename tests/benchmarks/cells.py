"""The same chains on one PostgreSQL server, and on four cells: each server's work per step.

CPU and log are measured, not times, and each cell runs its share while the others are idle: on one
machine, four busy servers would share its processors, caches and disk.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg

from tests.benchmarks import programs, shapes, sides
from tests.benchmarks.cpu import tree_seconds
from tests.benchmarks.options import Options
from tests.benchmarks.programs import Program
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say
from valkyr_project.embedded import Postgres

EXECUTIONS = 400
FURTHER = ("b", "c", "d")
SHAPE = "W1e"


@dataclass(frozen=True, slots=True)
class ServerUse:
    """One server's work for its share of the steps."""

    name: str
    steps: int
    cpu: float  # seconds
    wal: int  # bytes


@dataclass(frozen=True, slots=True)
class Share:
    """A server, its cell ("" is the first), and a workflow in it."""

    cell: str
    postgres: Postgres
    workflow: Any


def measure(stage: Stage, options: Options) -> tuple[ServerUse, list[ServerUse]]:
    """Return the work of one server that has everything, and the work of each of four servers."""
    executions = max(40, round(EXECUTIONS * options.scale))
    stage.add(programs.engine_worker(stage.folder, concurrency=options.concurrency))
    document, steps = shapes.BY_NAME[SHAPE]
    first = Share("", stage.postgres, _publish("", document))
    _run(stage, [first], max(8, executions // 10), steps)
    say("one server")
    [alone] = _run(stage, [first], executions, steps)
    with further(stage, options, FURTHER) as cells:
        shares = [first, *(Share(c, p, _publish(c, document)) for c, p in cells.items())]
        _run(stage, shares, max(8, executions // 10), steps)
        say("four cells")
        return alone, [_run(stage, [one], executions // 4, steps)[0] for one in shares]


@contextmanager
def further(stage: Stage, options: Options, names: Sequence[str]) -> Iterator[dict[str, Postgres]]:
    """Start more servers, the cells with these names, migrated, each with a worker."""
    from tests.support.cell_databases import cells_at

    with ExitStack() as stack:
        servers = {}
        for cell in names:
            home = stage.folder / cell
            home.mkdir(mode=0o711)
            servers[cell] = Postgres(home, durable=True)
            stack.callback(servers[cell].stop)
            servers[cell].start()
        urls = {cell: server.url for cell, server in servers.items()}
        own = {"VALKYR_CELLS": json.dumps(urls)}
        for cell in names:
            _add(stage, cell, own)
        for cell in names:
            queues = f"{cell}:default,{cell}:control"
            worker = programs.engine_worker(
                stage.folder, concurrency=options.concurrency, queues=queues, name=cell,
                VALKYR_CELL=cell, **own,
            )  # fmt: skip
            stage.add(worker)
        with cells_at(urls):
            yield servers


def _add(stage: Stage, cell: str, own: dict[str, str]) -> None:
    command = (sys.executable, "manage.py", "valkyr_cells", "add", cell)
    program = Program(f"add-{cell}", command, stage.folder, **own)
    if program.wait(180):
        raise RuntimeError(program.last_lines())


def _publish(cell: str, document: dict[str, Any]) -> Any:
    from executions.access.actor import Actor
    from executions.database.routing import alias_of, serving
    from executions.models import Tier, Workspace
    from executions.publishing import versioning

    actor = Actor.system("benchmark")
    with serving(alias_of(cell)):
        name = f"bench-{cell or 'a'}"
        tier = Tier.objects.get(name="unlimited")
        space = Workspace.objects.create(slug=name, name=name, tier=tier)
        workflow = versioning.create_workflow(
            space, name=document["name"], definition=document, actor=actor
        )
        versioning.publish(workflow.pk, actor=actor)
        workflow.refresh_from_db()
    return workflow


def _run(stage: Stage, shares: Sequence[Share], executions: int, steps: int) -> list[ServerUse]:
    """Run the executions, in equal shares; return the work of each server."""
    from executions.access.actor import Actor
    from executions.database.routing import alias_of, serving
    from executions.models import WorkflowExecution
    from executions.triggers.start import start_batch

    each = executions // len(shares)
    for one in shares:
        _vacuum(one.postgres)
    before = [(tree_seconds(one.postgres.pid), _wal(one.postgres)) for one in shares]
    started = {}
    for one in shares:
        with serving(alias_of(one.cell)):
            numbers = [{"n": n} for n in range(each)]
            made = start_batch(one.workflow, numbers, actor=Actor.system("benchmark"))
            started[one.cell] = [execution.pk for execution in made]

    def finished() -> bool:
        return all(_left(one.cell, started[one.cell]) == 0 for one in shares)

    def _left(cell: str, ids: list[Any]) -> int:
        with serving(alias_of(cell)):
            rows = WorkflowExecution.objects.filter(pk__in=ids)
            return rows.filter(finished_at=None).count()

    sides.wait(finished, stage, 0.2)
    return [
        ServerUse(
            one.cell or "first",
            each * steps,
            tree_seconds(one.postgres.pid) - cpu,
            _wal(one.postgres) - wal,
        )
        for one, (cpu, wal) in zip(shares, before, strict=True)
    ]


def _vacuum(server: Postgres) -> None:
    """Do the upkeep of earlier rows now, and not while the server's work is measured.

    No checkpoint: after it, each page that is changed is logged as a whole once.
    """
    with psycopg.connect(server.url, autocommit=True) as session:
        session.execute("VACUUM ANALYZE")


def _wal(server: Postgres) -> int:
    with psycopg.connect(server.url, autocommit=True) as session:
        row = session.execute("SELECT pg_current_wal_insert_lsn() - '0/0'").fetchone()
    return int(row[0]) if row else 0


def report(alone: ServerUse, four: Sequence[ServerUse]) -> None:
    """Print a line for each server, and compare the busiest of the four servers with the single
    one.
    """
    say("server     steps   CPU ms a step   WAL B a step   WAL, KiB")
    for one in (alone, *four):
        say(
            f"{one.name:<9}{one.steps:>7}{1000 * one.cpu / one.steps:>16.2f}"
            f"{one.wal / one.steps:>15,.0f}{one.wal / 1024:>11,.0f}"
        )
    cpu, wal = factors(alone, four)
    say(f"one server alone does {cpu:.2f} times the CPU work of the busiest of four")
    say(f"and writes {wal:.2f} times its log, for the same steps")


def factors(alone: ServerUse, four: Sequence[ServerUse]) -> tuple[float, float]:
    """Return the CPU and log of one server alone, each divided by that of the busiest cell."""
    return alone.cpu / max(one.cpu for one in four), alone.wal / max(one.wal for one in four)
