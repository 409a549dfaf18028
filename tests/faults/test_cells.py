"""Two PostgreSQL servers with workers of their own: each executes its own workspaces alone."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import psutil
import pytest
from django.db import connections

from executions.database.routing import serving
from executions.models import Tier, Workflow, WorkflowExecution, Workspace
from runners.models import Run, Runner
from tests.support import nursery
from tests.support.cell_databases import CELL, cell_at
from tests.support.fleet import QUICK, Fleet, database_url
from tests.support.folders import passable_folder
from tests.support.waiting import wait_until, wait_until_gone
from tests.support.workflows import publish, start, task, wait_for_end
from valkyr_project.embedded import Postgres, Redis

# The first test migrates a database, which takes some seconds.
pytestmark = pytest.mark.timeout(300)
CHAIN = [task("one"), task("two", after="one"), task("three", after="two")]


@dataclass
class Cell:
    """The second server, its alias in this process, and its workers."""

    server: Postgres
    alias: str
    fleet: Fleet
    workflow: Workflow

    def start(self, number: int) -> list[UUID]:
        """Start executions in the cell, as a web process does; return their ids."""
        with serving(self.alias):
            return [start(self.workflow) for _ in range(number)]

    def ended(self, ids: list[UUID]) -> set[str]:
        """Wait for the executions' end; return their states."""
        with serving(self.alias):
            return set(wait_for_end(ids).values())

    def kill(self) -> None:
        """Kill -9 of the whole server."""
        family = psutil.Process(self.server.pid)
        children = [one.pid for one in family.children()]
        os.kill(self.server.pid, signal.SIGKILL)
        wait_until(lambda: not self.server.alive(), 10, "the end of the server")
        wait_until_gone(children)


@pytest.fixture(name="cell", scope="module")
def _cell(
    whole_fleet: Fleet, redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cell]:
    with passable_folder() as home:
        server = Postgres(home, durable=False)
        server.start()
        cells = {"VALKYR_CELLS": json.dumps({CELL: server.url})}
        fleet = Fleet(tmp_path_factory.mktemp("cell"), redis.url, extra=QUICK | cells)
        try:
            run(fleet, "add", CELL)
            with cell_at(server.url) as alias:
                workers(fleet)
                yield Cell(server, alias, fleet, _workflow(alias))
        finally:
            fleet.stop()
            server.stop()


def run(fleet: Fleet, *words: str) -> str:
    """The output of `manage.py valkyr_cells`, where web processes run."""
    program = [sys.executable, "manage.py", "valkyr_cells", *words]
    done = nursery.run(program, environment=fleet.environment, seconds=120)
    return f"{done.returncode} {done.stdout}{done.stderr}"


def workers(fleet: Fleet) -> None:
    own = {"VALKYR_CELL": CELL}
    fleet.worker("b-control", f"{CELL}:control", "threads", 2, **own)
    fleet.worker("b-default", f"{CELL}:default,{CELL}:io", "prefork", 2, **own)
    fleet.beat("beat-b", **own)
    for member in fleet.members.values():
        wait_until(lambda one=member: _ready(one.name), 60, f"{member.name}'s readiness")


def _ready(name: str) -> bool:
    with serving(CELL):
        return name.startswith("beat") or Runner.objects.filter(name__startswith=name).exists()


def _workflow(alias: str) -> Workflow:
    with serving(alias):
        tier = Tier.objects.get(name="unlimited")
        space = Workspace.objects.create(name="North", slug="north", tier=tier)
        return publish({"tasks": CHAIN}, space)


def test_each_cell_executes_its_own_executions(fleet: Fleet, cell: Cell) -> None:
    here = [start(publish({"tasks": CHAIN}))]
    there = cell.start(5)

    assert cell.ended(there) == {"SUCCESS"}
    assert set(wait_for_end(here).values()) == {"SUCCESS"}
    with serving(cell.alias):
        leased = set(Run.objects.filter(execution_id__in=there).values_list("leased_by", flat=True))
        assert not WorkflowExecution.objects.filter(pk__in=here).exists()
    assert not WorkflowExecution.objects.filter(pk__in=there).exists()
    assert not Runner.objects.filter(name__startswith="b-").exists()
    assert all(name.startswith("b-") for name in leased if name), leased


def test_a_dead_cell_stops_its_own_executions_alone(fleet: Fleet, cell: Cell) -> None:
    there = cell.start(20)
    cell.kill()
    connections[cell.alias].close()

    here = [start(publish({"tasks": CHAIN})) for _ in range(5)]
    states = set(wait_for_end(here).values())
    told = run(cell.fleet, "status")
    cell.server.launch()
    cell.server.wait()

    assert states == {"SUCCESS"}
    assert "not available" in told, told
    assert told.startswith("1 (first)"), told
    assert cell.ended([*there, *cell.start(5)]) == {"SUCCESS"}


def test_the_status_shows_each_cells_workers(fleet: Fleet, cell: Cell) -> None:
    told = run(cell.fleet, "status")

    first, second = told.splitlines()[:2]
    assert first.startswith("0 (first)"), told
    assert "workers of control, default, io" in first
    assert second.startswith("b "), told
    assert "1 workspaces" in second
    assert "workers of control, default, io" in second


@pytest.mark.parametrize(
    ("cell_of_worker", "queue", "told"),
    [
        ("b", "default", "This worker serves the cell 'b'"),
        ("", "b:default", "This worker serves the first database"),
    ],
)
def test_a_worker_of_another_cells_queue_is_refused(
    cell: Cell, cell_of_worker: str, queue: str, told: str
) -> None:
    program = [
        *(sys.executable, "-m", "valkyr_project.messaging.celery_command", "worker"),
        *("-Q", queue, "--pool", "threads", "--concurrency", "1"),
    ]
    environment = {**cell.fleet.environment, "VALKYR_CELL": cell_of_worker}
    environment["VALKYR_PROCESS"] = "worker-wrong"
    done = nursery.run(program, environment=environment, seconds=60)

    assert done.returncode != 0
    assert told in done.stderr


def test_the_first_database_is_not_taken_as_a_cell(cell: Cell, tmp_path: Path) -> None:
    wrong = Fleet(tmp_path, "redis://127.0.0.1:1/0")
    wrong.environment["VALKYR_CELLS"] = json.dumps({"c": database_url()})

    told = run(wrong, "add", "c")

    assert "names the same database as (first)" in told
