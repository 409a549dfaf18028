"""The primary PostgreSQL is killed under load, and its standby is promoted, complete or behind."""

import os
import signal
import time

import httpx
from django.db import connections

from executions.models import WorkflowExecution
from tests.chaos.fault import Fault, Load
from tests.chaos.faults.postgres import recover
from tests.chaos.world import World
from tests.support.waiting import wait_until

UNNOTICED = 2.0  # seconds until the standby is promoted


def _fail_over(world: World) -> None:
    """Kill the primary, promote its standby, and wait until everything continues."""
    assert world.standby is not None
    world.injected("kill -9 of the primary")
    os.kill(world.postgres.pid, signal.SIGKILL)
    wait_until(lambda: not world.postgres.alive(), 10, "the end of the primary")
    world.pause(UNNOTICED)
    began = time.monotonic()
    world.standby.promote()
    world.figure("promotion", f"{time.monotonic() - began:.2f} s")
    connections.close_all()


def _promoted(world: World) -> None:
    wait_until(lambda: len(world.load.accepted) >= 20, 60, "twenty executions")
    with httpx.Client(base_url=world.web.address, timeout=30) as client:
        with world.excused():
            _fail_over(world)
        recover(world, client)
    world.figure("requests rejected during the fault", dict(world.load.refused))
    world.figure("slowest answer", f"{world.load.slowest:.2f} s")
    assert set(world.load.refused) <= {"503"}, f"the API answered {dict(world.load.refused)}"


def _behind(world: World) -> None:
    assert world.standby is not None
    world.standby.is_not_waited_for_by(world.postgres.url)
    wait_until(lambda: len(world.load.accepted) >= 20, 60, "twenty executions")
    with httpx.Client(base_url=world.web.address, timeout=30) as client:
        with world.excused():
            world.standby.fall_behind()
            replicated = world.load.ids()
            world.injected("the standby cut off from its primary")
            wait_until(
                lambda: len(world.load.accepted) >= len(replicated) + 10, 60, "ten more executions"
            )
            _fail_over(world)
            promised = world.load.ids()
        recover(world, client)
    there = set(WorkflowExecution.objects.filter(pk__in=promised).values_list("pk", flat=True))
    lost = [pk for pk in promised if pk not in there]
    earlier = [pk for pk in lost if pk in set(replicated[:-1])]
    assert lost, "nothing was lost, so nothing was tried"
    assert not earlier, f"lost though the standby had them: {earlier}"
    label = "executions accepted while the standby was cut off, and lost with the primary"
    world.figure(label, len(lost))
    world.load.forget(lost)


FAILOVER = Fault(
    "postgres-failover",
    "`kill -9` of the primary PostgreSQL under load; its synchronous standby is promoted",
    "the API answers in under 10 s after the promotion, nothing accepted is lost, all reconnect "
    "by themselves",
    10,
    _promoted,
    load=Load(api=True),
)
BEHIND = Fault(
    "postgres-behind",
    "`kill -9` of the primary PostgreSQL; a standby that had fallen behind is promoted",
    "only what the standby did not have is lost, and it is named; all else ends, each step "
    "recorded once",
    10,
    _behind,
    load=Load(api=True),
)
