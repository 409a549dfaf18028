"""Workers are cut off from the database, from the broker, or in one direction, for longer than a
lease.
"""

from contextlib import ExitStack

from tests.chaos.cut_workers import CutWorkers
from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.fleet import database_url
from tests.support.heard_calls import HeardCalls
from tests.support.partner import Partner
from tests.support.relay import relay

SLOW = 0.2  # seconds in each direction


def _split(world: World) -> None:
    with ExitStack() as stack:
        partner = Partner()
        stack.callback(partner.stop)
        database = stack.enter_context(relay(database_url()))
        broker = stack.enter_context(relay(world.broker.url))
        there = {"DATABASE_URL": database.url, "CELERY_BROKER_URL": broker.url}
        if world.broker.url == world.redis.url:
            there["REDIS_URL"] = broker.url

        def mend() -> None:
            for one in (database, broker):
                one.mend()
                one.slow(0.0)

        def slow() -> None:
            for one in (database, broker):
                one.slow(SLOW)

        workers = CutWorkers(world, HeardCalls(partner), mend)
        stack.callback(workers.remove)
        workers.add(there)
        for _ in range(1 if world.quick else 2):
            workers.taken_over("cut from the database alone", database.cut)
            workers.taken_over("answers of the database lost", lambda: database.cut("back"))
            workers.taken_over("statements to the database lost", lambda: database.cut("there"))
            workers.kept("cut from the broker alone", broker.cut)
        workers.kept("200 ms from database and broker", slow)
        workers.judge()


PARTITION = Fault(
    "partition",
    "workers cut off from the database or the broker, in both directions or one, for longer than "
    "a lease",
    "no effect of a holder after its lease; its steps are done once by others in under 30 s (where "
    "answers alone are lost: a renewal may count unnoticed, so 35 s); cut workers serve again by "
    "themselves",
    35,
    _split,
    load=Load(rate=2),
)
