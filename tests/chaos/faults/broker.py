"""The broker stopped for a while, restarted without messages, or replaced."""

import time
from datetime import datetime

from django.db import connection

from executions.database.clock import database_now
from tests.chaos.fault import Fault, Load
from tests.chaos.servers.sentinels import SentinelBroker
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
    nothing_was_refused(world, during)
    steps_run_again(world, back)
    world.pause(5)


def nothing_was_refused(world: World, during: int) -> None:
    """Check that the API accepted `during` requests while the broker was down, rejecting none."""
    world.figure("requests accepted while the broker was down", during)
    world.figure("slowest answer", f"{world.load.slowest:.2f} s")
    assert during, f"nothing was accepted while the broker was down; {dict(world.load.refused)}"
    assert not world.load.refused, f"the API refused: {dict(world.load.refused)}; expected 202"


def steps_run_again(world: World, since: datetime) -> None:
    """Measure the time until the first effect after that moment."""
    wait_until(lambda: _first_effect(since) is not None, 60, "a step after the broker's return")
    first = _first_effect(since)
    assert first is not None
    world.recovered("steps run again", (first - since).total_seconds())


def _stopped(world: World) -> None:
    _away(world, "broker killed, away for 20 s", 5 if world.quick else AWAY, forget=False)


def _emptied(world: World) -> None:
    for _ in range(1 if world.quick else 2):
        _away(world, "broker killed and emptied", 2, forget=True)


def _failed_over(world: World) -> None:
    assert isinstance(world.broker, SentinelBroker)
    sentinels = world.broker.sentinels
    elections, during = [], 0
    for _ in range(1 if world.quick else 3):
        already = len(world.load.accepted)
        wait_until(lambda n=already: len(world.load.accepted) >= n + 20, 60, "twenty executions")
        primary, before = sentinels.primary(), len(world.load.accepted)
        assert primary is not None
        with world.excused():
            world.injected("kill -9 of the primary")
            primary.kill()
            begun = time.monotonic()
            wait_until(
                lambda old=primary: sentinels.primary() not in {None, old}, 60, "a new primary"
            )
        back = database_now()
        elections.append(time.monotonic() - begun)
        during += len(world.load.accepted) - before
        steps_run_again(world, back)
        primary.launch()
        sentinels.wait_whole()
    world.figure("time until the Sentinels named a new primary", f"{max(elections):.1f} s at most")
    nothing_was_refused(world, during)


BROKER_FAILOVER = Fault(
    "broker-failover",
    "`kill -9` of the primary Redis under load; three Sentinels promote its replica",
    "the API still answers 202, nothing accepted is lost, steps run in under 10 s after the "
    "promotion",
    10,
    _failed_over,
    load=Load(api=True),
)
BROKER_STOPPED = Fault(
    "broker-stopped",
    "the broker (Redis or RabbitMQ) killed, and started again after 20 s",
    "the API still answers 202; everything ends; nothing is unattended for 30 s once it is back",
    30,
    _stopped,
    load=Load(api=True),
)
BROKER_EMPTIED = Fault(
    "broker-emptied",
    "the broker restarted empty, with all messages lost",
    "the API still answers 202; everything ends; nothing is unattended for 30 s once it is back",
    30,
    _emptied,
    load=Load(api=True),
)
