"""The database's disk is full (Redis's too: they share it), and then emptied again."""

import time
from pathlib import Path

import httpx
from django.db import connection, connections

from tests.chaos.fault import Fault, Load
from tests.chaos.faults.postgres import recover
from tests.chaos.servers.disk import Ballast
from tests.chaos.world import World
from tests.support.waiting import wait_until
from valkyr_project.embedded import Postgres, ServerError

FULL = 15.0


def _full(world: World) -> None:
    wait_until(lambda: len(world.load.accepted) >= 10, 60, "ten executions")
    ballast = Ballast(_disk())
    with httpx.Client(base_url=world.web.address, timeout=30) as client, world.excused():
        world.injected("the disk is full")
        try:
            until = time.monotonic() + FULL
            while time.monotonic() < until:
                ballast.fill()
                live = client.get("/actuator/health/live")
                assert live.status_code == 200, "the web process does not live"
                world.pause(0.3)
        finally:
            ballast.empty()
        world.figure("requests rejected during the fault", dict(world.load.refused))
        assert world.load.refused, "nothing was refused: the disk was not full"
        assert set(world.load.refused) <= {"503"}, f"the API answered {dict(world.load.refused)}"
        # A server without room for its log ends itself; its supervisor starts it again.
        if not world.postgres.alive():
            world.note("PostgreSQL ended itself, and was started again as a supervisor does")
            _start_again(world.postgres)
        connections.close_all()
        recover(world, client)


def _disk() -> Path:
    """Return a folder on the disk with the database's data."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW data_directory")
        row = cursor.fetchone()
    assert row is not None
    return Path(row[0]).parent


def _start_again(server: Postgres) -> None:
    def started() -> bool:
        try:
            server.launch()
            server.wait()
        except ServerError:
            return False
        return True

    wait_until(started, 60, "PostgreSQL's start with room again")


DISK_FULL = Fault(
    "disk-full",
    "the database's disk full for 15 s (its data folder is on a small tmpfs)",
    "clear refusals (503), recovers by itself once there is room, nothing is lost",
    60,
    _full,
    needs=("tmpfs",),
    load=Load(api=True),
)
