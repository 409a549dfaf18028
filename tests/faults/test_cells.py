"""Two PostgreSQL servers with their own workers: each executes only its own workspaces."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from executions.database.routing import serving
from executions.models import Workflow, WorkflowExecution
from runners.models import Run, Runner
from tests.support import nursery
from tests.support.auditor import audit
from tests.support.cell_fleet import CHAIN, Cell, cell_with_workers, run
from tests.support.fleet import QUICK, Fleet, database_url
from tests.support.folders import passable_folder
from tests.support.waiting import wait_until
from tests.support.workflows import publish, start, task, wait_for_end
from valkyr_project.embedded import Redis


@pytest.fixture(name="cell", scope="module")
def _cell(
    whole_fleet: Fleet, redis: Redis, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cell]:
    folder = tmp_path_factory.mktemp("cell")
    with passable_folder() as home, cell_with_workers(home, folder, redis.url, QUICK) as made:
        yield made


def test_each_cell_executes_its_own_executions(fleet: Fleet, cell: Cell) -> None:
    here = [start(publish({"tasks": CHAIN}))]
    there = cell.start(5)

    cell.succeed(there)
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

    here = [start(publish({"tasks": CHAIN})) for _ in range(5)]
    states = set(wait_for_end(here).values())
    told = run(cell.fleet, "status")
    cell.launch()

    assert states == {"SUCCESS"}
    assert "not available" in told, told
    assert told.startswith("1 (first)"), told
    cell.succeed([*there, *cell.start(5)], 120)


def test_a_workspace_moves_there_and_back_while_its_executions_run(
    fleet: Fleet, cell: Cell
) -> None:
    sleeps = task("sleep", "flow.delay", **{"with": {"seconds": 4}})
    with serving(cell.alias):
        sleeper = publish({"tasks": [sleeps, task("woken", after="sleep")]}, cell.workspace)
        asleep = [start(sleeper) for _ in range(3)]
    ids = [*asleep, *cell.start(5)]

    told = run(cell.fleet, "move", "north", "-", "--pause", "60")

    assert told.startswith("0 "), told
    with serving(cell.alias):
        assert not WorkflowExecution.objects.filter(pk__in=ids).exists()
    ids += [start(Workflow.objects.get(pk=cell.workflow.pk)) for _ in range(2)]
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    audit(ids)

    back = run(cell.fleet, "move", "north", cell.alias, "--pause", "60")

    assert back.startswith("0 "), back
    cell.succeed([*ids, *cell.start(2)])


def test_the_status_shows_each_cells_workers(fleet: Fleet, cell: Cell) -> None:
    told = ""

    def shows_all() -> bool:
        # The leases of this fleet last 6 s; a busy machine may renew one late.
        nonlocal told
        told = run(cell.fleet, "status")
        return told.count("workers of control, default, io") == 2

    wait_until(shows_all, 60, "the lines of both cells with all queues", lambda: told)

    first, second = told.splitlines()[:2]
    assert first.startswith("0 (first)"), told
    assert second.startswith("b "), told
    assert "1 workspaces" in second


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
