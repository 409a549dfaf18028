"""One of two cells is killed under load: the other's executions continue, and nothing is lost."""

import time
from uuid import UUID

from executions.database.routing import serving
from executions.models import WorkflowExecution
from executions.states import FINAL
from tests.chaos.fault import Fault
from tests.chaos.world import World
from tests.support.auditor import audit
from tests.support.cell_fleet import Cell, cell_with_workers
from tests.support.fleet import QUICK
from tests.support.folders import passable_folder
from tests.support.nursery import from_nothing
from tests.support.waiting import wait_until

IN_CELL = 40  # executions that run while the cell is killed
DEAD_SECONDS = 8.0
MORE_MEANWHILE = 15  # executions that must end elsewhere while the cell is dead


def _ended(cell: Cell, ids: list[UUID]) -> int:
    with serving(cell.alias):
        return WorkflowExecution.objects.filter(pk__in=ids, state__in=FINAL).count()


def _kill(world: World) -> None:
    fleet, extra = world.fleet, QUICK if world.quick else {}
    folder = world.folder / "cell"
    folder.mkdir(exist_ok=True)
    with (
        passable_folder() as home,
        cell_with_workers(
            home, folder, fleet.environment["REDIS_URL"], extra,
            fleet.environment["CELERY_BROKER_URL"], from_nothing,
        ) as cell,
    ):  # fmt: skip
        _with_cell(world, cell)


def _with_cell(world: World, cell: Cell) -> None:
    ids = cell.start(IN_CELL)
    wait_until(lambda: _ended(cell, ids) > 0, 60, "the first end in the cell")
    before = _elsewhere(world)
    world.injected("kill -9 of the cell's PostgreSQL")
    cell.kill()
    world.pause(DEAD_SECONDS)
    wait_until(
        lambda: _elsewhere(world) >= before + MORE_MEANWHILE, 30, "executions of the first database"
    )
    world.figure("ended elsewhere while the cell was dead", _elsewhere(world) - before)
    cell.launch()
    began = time.monotonic()
    later = cell.start(IN_CELL)
    wait_until(lambda: _ended(cell, later) > 0, 60, "the first end after the cell's return")
    world.recovered("the cell", time.monotonic() - began)
    cell.succeed([*ids, *later], 120)
    with serving(cell.alias):
        audit([*ids, *later])


def _elsewhere(world: World) -> int:
    """Return how many executions of the load have ended, in the first database."""
    ids = world.load.ids()
    return WorkflowExecution.objects.filter(pk__in=ids, state__in=FINAL).count()


CELL_KILLED = Fault(
    "cell-killed",
    "`kill -9` of the PostgreSQL of one of two cells under load; it returns after 8 s",
    "executions of the other cell continue meanwhile; the cell's own continue in under 30 s after "
    "its return, and none is lost",
    30,
    _kill,
)
