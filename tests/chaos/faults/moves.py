"""A workspace moves to another cell under load: the pause is short, and nothing is lost or
duplicated.
"""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from random import Random
from threading import Event, Thread
from uuid import UUID

from django.contrib.auth import get_user_model
from django.db import connection, connections

from executions.accounts.tokens import create_token
from executions.database.routing import serving
from executions.models import Membership, Tier, Workflow, WorkflowExecution, Workspace
from executions.states import FINAL
from tests.chaos import meddling, shapes
from tests.chaos.doors import Http
from tests.chaos.fault import Fault
from tests.chaos.world import World
from tests.support import modules
from tests.support.auditor import audit
from tests.support.cell_fleet import Cell, cell_with_workers, run
from tests.support.fleet import QUICK
from tests.support.folders import passable_folder
from tests.support.nursery import from_nothing
from tests.support.waiting import wait_until
from tests.support.web_server import WebServer
from tests.support.workflows import ACTOR, describe, effect, publish, wait_for_end

SHAPES = {
    "chain": shapes.chain,
    "fan": shapes.fan,
    "map": shapes.mapped,
    "sleeper": shapes.sleeper,
    "long": lambda: {"tasks": [effect("long", seconds=6), effect("after", after="long")]},
}
ENDED_BEFORE = 15  # executions that have ended when the move begins
EACH_SECONDS = 0.25
MARKS = "key, execution, step, attempt, run, token, pid, at"
PAUSE = re.compile(r"the pause was (\d+) ms")


class Client:
    """Starts executions over HTTP until stopped; repeats a rejected request with the same key."""

    def __init__(self, door: Http, workflows: Mapping[str, Workflow], seed: str) -> None:
        self.accepted: list[UUID] = []
        self.times: list[float] = []
        self.refused = 0
        self._door, self._workflows = door, list(workflows.values())
        self._random = Random(seed)
        self._seed = seed
        self._over = Event()
        self._thread = Thread(target=self._go, name="client", daemon=True)

    def start(self) -> None:
        """Begin starting executions."""
        self._thread.start()

    def stop(self) -> None:
        """Stop; return after the last answer."""
        self._over.set()
        self._thread.join(60)
        assert not self._thread.is_alive()

    def longest_gap(self) -> float:
        """Return the longest time between two accepted requests, in seconds."""
        pairs = zip(self.times, self.times[1:], strict=False)
        return max(later - earlier for earlier, later in pairs)

    def _go(self) -> None:
        number = 0
        while not self._over.is_set():
            workflow = self._random.choice(self._workflows)
            while (answer := self._door.ask(workflow, f"{self._seed}:{number}")).accepted is None:
                self.refused += 1
                if self._over.wait(EACH_SECONDS):
                    return
            self.accepted.append(answer.accepted)
            self.times.append(time.monotonic())
            number += 1
            self._over.wait(EACH_SECONDS)


def _move(world: World) -> None:
    fleet, folder = world.fleet, world.folder / "moving"
    folder.mkdir(exist_ok=True)
    names = ("VALKYR_EXTRA_MODULES", meddling.VARIABLE)
    extra = {name: fleet.environment[name] for name in names} | (QUICK if world.quick else {})
    servers = fleet.environment["REDIS_URL"], extra, fleet.environment["CELERY_BROKER_URL"]
    with (
        passable_folder() as home,
        cell_with_workers(home, folder, *servers, from_nothing) as cell,
        _web(cell) as web,
    ):
        _under_load(world, cell, web)


@contextmanager
def _web(cell: Cell) -> Iterator[WebServer]:
    """Run a web process that serves both databases."""
    given = {name: cell.fleet.environment[name] for name in ("VALKYR_CELLS", "REDIS_URL")}
    given["CELERY_BROKER_URL"] = cell.fleet.environment["CELERY_BROKER_URL"]
    web = WebServer(cell.fleet.folder / "web-cells.log", given, from_nothing)
    web.start()
    try:
        yield web
    finally:
        web.kill()


def _under_load(world: World, cell: Cell, web: WebServer) -> None:
    slug = f"mover-{WorkflowExecution().pk.hex[-8:]}"
    tier = Tier.objects.get(name="unlimited")
    space = Workspace.objects.create(name="Mover", slug=slug, tier=tier)
    user = get_user_model().objects.get(username="chaos")
    Membership.objects.create(user=user, workspace=space, role="ADMIN")
    token = create_token(space, user, name="mover", maker=user, actor=ACTOR)[1]
    with connections[cell.alias].cursor() as cursor:
        cursor.execute(modules.CREATE)
    workflows = {name: publish(shape(), space) for name, shape in SHAPES.items()}
    client = Client(Http(web.address, token), workflows, slug)
    client.start()
    try:
        wait_until(lambda: _ended(client.accepted) >= ENDED_BEFORE, 60, "executions that ended")
        world.injected("move of a workspace to another cell")
        told = run(cell.fleet, "move", slug, cell.alias, "--pause", "30")
        assert told.startswith("0 "), told
        moved = len(client.accepted)
        wait_until(lambda: len(client.accepted) > moved + 10, 30, "starts in the target")
    finally:
        client.stop()
    found = PAUSE.search(told)
    assert found is not None, told
    with serving(cell.alias):
        states = wait_for_end(client.accepted, 120)
        failed = [pk for pk, state in states.items() if state != "SUCCESS"]
        assert not failed, describe(failed)
        _gather_marks(cell)
        audited = audit(client.accepted)
        assert len(audited.states) == len(client.accepted), "executions are lost"
    assert not WorkflowExecution.objects.filter(pk__in=client.accepted).exists()
    connections[cell.alias].close()
    gap = client.longest_gap()
    world.recovered("the workspace", gap)
    world.figure("executions of the moved workspace", len(client.accepted))
    world.figure("longest time between two accepted starts", f"{gap:.1f} s")
    world.figure("pause by the command", f"{int(found[1]) / 1000:.1f} s")
    world.figure("steps done again", audited.repeats)
    world.figure("refused requests, each repeated", client.refused)


def _gather_marks(cell: Cell) -> None:
    """Copy the marks of steps that ran in the target to where the auditor reads them."""
    with connections[cell.alias].cursor() as there, connection.cursor() as here:
        there.execute(f"SELECT {MARKS} FROM test_effects ORDER BY id")
        rows = there.fetchall()
        here.executemany(
            f"INSERT INTO test_effects ({MARKS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", rows
        )


def _ended(ids: list[UUID]) -> int:
    return WorkflowExecution.objects.filter(pk__in=list(ids), state__in=FINAL).count()


WORKSPACE_MOVED = Fault(
    "workspace-moved",
    "a workspace moves to another cell while a client starts its executions",
    "starts pause for less than 5 s, other workspaces do not pause, no execution is lost, and "
    "steps that ran during the pause are done again at most once with the same key",
    5,
    _move,
)
