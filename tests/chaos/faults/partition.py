"""Workers cut off from the database, from the broker, or in one direction, for longer than a
lease.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from executions.database.clock import database_now
from runners.models import Run
from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.fleet import database_url
from tests.support.heard_calls import HeardCalls
from tests.support.partner import Partner
from tests.support.relay import Relay, relay
from tests.support.waiting import wait_until
from tests.support.workflows import publish, start, task, wait_for_end

# Queues that only the cut-off workers serve, besides those of the load.
PROCESSES, THREADS = "apart", "apart-io"
LONG = 600.0
SLOW = 0.2  # seconds in each direction


@dataclass
class Apart:
    """Workers behind relays, and a partner that records its callers."""

    world: World
    database: Relay
    broker: Relay
    calls: HeardCalls
    margins: list[float] = field(default_factory=list)  # from a last call to the lease's end
    doubled: int = 0  # calls of a holder after the first call of another one

    def begin(self, seconds: float) -> dict[str, Run]:
        """Start a step in a process and one in a thread of these workers; both are under way."""
        url = self.calls.partner.url
        runs = {}
        for queue in (PROCESSES, THREADS):
            given = {"url": url, "seconds": seconds, "heeds": queue == THREADS}
            used = task("work", "test.knocker", queue=queue, **{"with": given})
            execution = start(publish({"tasks": [used, task("after", "test.effect", "work")]}))
            self.world.own([execution])
            runs[queue] = Run.objects.get(execution_id=execution, step_path="work.main")
        for run in runs.values():
            wait_until(lambda run=run: self.calls.of(run.pk), 60, "the first call of each step")
        return runs


@contextmanager
def _apart(world: World) -> Iterator[Apart]:
    names = ("apart", "apart-io", "spare")
    with ExitStack() as stack:
        partner = Partner()
        stack.callback(partner.stop)
        database = stack.enter_context(relay(database_url()))
        broker = stack.enter_context(relay(world.broker.url))
        there = {"DATABASE_URL": database.url, "CELERY_BROKER_URL": broker.url}
        if world.broker.url == world.redis.url:
            there["REDIS_URL"] = broker.url
        try:
            world.fleet.worker(names[0], f"default,{PROCESSES}", "prefork", 2, **there)
            world.fleet.worker(names[1], f"io,{THREADS}", "threads", 8, **there)
            world.fleet.ensure(90)
            yield Apart(world, database, broker, HeardCalls(partner))
        finally:
            database.mend()
            broker.mend()
            for name in names:
                if name in world.fleet.members:
                    world.fleet.remove(name)


def _taken_over(apart: Apart, what: str, cut: Callable[[], None]) -> None:
    """Cut the workers off until others have done their steps; no worker calls after its lease."""
    world, calls = apart.world, apart.calls
    runs = apart.begin(LONG)
    ids = [run.execution_id for run in runs.values()]
    at = database_now()
    world.injected(what)
    cut()
    world.fleet.worker("spare", f"{PROCESSES},{THREADS}", "prefork", 2)
    wait_until(lambda: calls.taken_over(ids), 90, "the end of the leases of who is cut off")
    wait_for_end(ids, 90)
    apart.database.mend()
    for run in runs.values():
        first, others = calls.split(run.pk)
        ends = calls.leases[str(run.pk)]
        world.recovered("step done again", min(others) - at.timestamp())
        apart.margins.append(ends - max(first))
        apart.doubled += sum(call >= min(others) for call in first)
        run.refresh_from_db()
        assert run.crashes == 0, f"run {run.pk} was blamed: {run.crash_cause}"
        assert run.outputs == run.lease_token, f"run {run.pk} has not the result of its last holder"
    world.fleet.remove("spare")
    world.fleet.ensure(90)


def _kept(apart: Apart, what: str, cut: Callable[[], None]) -> None:
    """Disturb the workers for longer than a lease; the holder of a step continues and records
    it.
    """
    world = apart.world
    runs = apart.begin(1.5 * world.lease)
    world.injected(what)
    cut()
    time.sleep(1.5 * world.lease)
    apart.broker.mend()
    wait_for_end([run.execution_id for run in runs.values()], 90)
    for run in runs.values():
        run.refresh_from_db()
        others = apart.calls.split(run.pk)[1]
        assert (run.lease_token, others) == (1, []), f"run {run.pk} was taken over"
    world.fleet.ensure(90)


def _split(world: World) -> None:
    with _apart(world) as apart:
        database, broker = apart.database, apart.broker
        for _ in range(1 if world.quick else 2):
            _taken_over(apart, "cut from the database alone", database.cut)
            _taken_over(apart, "answers of the database lost", lambda: database.cut("back"))
            _taken_over(apart, "statements to the database lost", lambda: database.cut("there"))
            _kept(apart, "cut from the broker alone", broker.cut)
        for one in (database, broker):
            one.slow(SLOW)
        _kept(apart, "200 ms from database and broker", lambda: None)
        for one in (database, broker):
            one.slow(0.0)
    least = min(apart.margins)
    world.figure("calls of two holders at once", apart.doubled)
    world.figure("least time from a holder's last call to its lease's end", f"{least:.2f} s")
    assert not apart.doubled, f"a holder called {apart.doubled} times beside another one"
    assert least > 0, f"a holder called {-least:.2f} s after its lease had ended"


PARTITION = Fault(
    "partition",
    "workers cut from the database, from the broker, or in one direction, for longer than a lease",
    "no effect of a holder after its lease; its steps are done once by others in under 30 s (where "
    "answers alone are lost: a renewal may count unnoticed, so 35 s); cut workers serve again by "
    "themselves",
    35,
    _split,
    load=Load(rate=2),
)
