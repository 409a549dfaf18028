"""The broker stopped for a while; the broker started again without a single message."""

from datetime import datetime

from django.db import connection

from executions.database.clock import database_now
from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.waiting import wait_until

AWAY = 20.0
SINCE = "SELECT min(at) FROM test_effects WHERE at > %s"


def _first_effect(since: datetime) -> datetime | None:
    with connection.cursor() as cursor:
        cursor.execute(SINCE, [since])
        row = cursor.fetchone()
    return row[0] if row else None


def _away(world: World, what: str, seconds: float, *, forget: bool) -> None:
    wait_until(lambda: len(world.load.accepted) >= 10, 60, "ten executions")
    before = len(world.load.accepted)
    with world.excused():
        world.injected(what)
        world.broker.stop()
        world.pause(seconds)
        if forget:
            world.broker.forget()
        during = len(world.load.accepted) - before
        world.broker.start()
    back = database_now()
    world.figure("accepted while it was away", during)
    world.figure("slowest answer", f"{world.load.slowest:.2f} s")
    assert during, f"nothing was accepted while the broker was away; {dict(world.load.refused)}"
    assert not world.load.refused, f"the API refused: {dict(world.load.refused)}; expected 202"
    wait_until(lambda: _first_effect(back) is not None, 60, "a step after the broker's return")
    first = _first_effect(back)
    assert first is not None
    world.recovered("steps run again", (first - back).total_seconds())
    world.pause(5)


def _stopped(world: World) -> None:
    _away(world, "broker killed, away for 20 s", 5 if world.quick else AWAY, forget=False)


def _emptied(world: World) -> None:
    for _ in range(1 if world.quick else 2):
        _away(world, "broker killed and emptied", 2, forget=True)


BROKER_STOPPED = Fault(
    "broker-stopped",
    "the broker (Redis, or RabbitMQ) killed, away for 20 s",
    "the API still answers 202; everything ends; nothing is unattended for 30 s once it is back",
    30,
    _stopped,
    load=Load(api=True),
)
BROKER_EMPTIED = Fault(
    "broker-emptied",
    "the broker started again empty, all messages lost",
    "the API still answers 202; everything ends; nothing is unattended for 30 s once it is back",
    30,
    _emptied,
    load=Load(api=True),
)
