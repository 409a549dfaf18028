"""Workers in a network that delays and loses packets in one or both directions, or whose name
look-ups fail.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from tests.chaos.cut_workers import PROCESSES, THREADS, CutWorkers
from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.far_network import NEAR_ADDRESS, FarNetwork, at, far_network
from tests.support.fleet import database_url
from tests.support.heard_calls import HeardCalls
from tests.support.partner import Partner
from tests.support.workflows import publish, start, task, wait_for_end

LATE, LOST = 0.1, 0.01  # seconds a way: round trips take 200 ms; of packets, in each direction
SOME = 0.2  # of packets, in one direction
LOOKUP = 2.0  # seconds
PROBES = 20


@dataclass
class FarWorkers:
    """The workers in the far network, and their network."""

    workers: CutWorkers
    line: FarNetwork

    def probe(self, number: int, when: str) -> None:
        """Start executions one by one on these workers; measure the duration of each."""
        took = []
        for n in range(number):
            queue = (PROCESSES, THREADS)[n % 2]
            used = task("work", "test.effect", queue=queue)
            begun = time.monotonic()
            execution = start(publish({"tasks": [used, task("after", "test.effect", "work")]}))
            self.workers.world.own([execution])
            ended = wait_for_end([execution], 90)[execution]
            assert ended == "SUCCESS", f"execution {execution} ended as {ended}"
            took.append(time.monotonic() - begun)
            self.workers.world.recovered("chain", took[-1])
        seconds = ", ".join(f"{one:.1f}" for one in took)
        self.workers.world.figure(f"chains {when}", f"{seconds} s")

    def told(self) -> None:
        """Report what the network did."""
        for name, number in sorted(self.line.mend().items()):
            self.workers.world.figure(name, f"{number:,}")


@contextmanager
def _far(world: World, *hosts: str) -> Iterator[FarWorkers]:
    """Start workers in the far network; they reach the database and the broker by these two host
    names.
    """
    database, broker = hosts or (NEAR_ADDRESS, NEAR_ADDRESS)
    urls = {
        "DATABASE_URL": at(database_url(), database),
        "REDIS_URL": at(world.redis.url, broker),
        "CELERY_BROKER_URL": at(world.broker.url, broker),
    }
    ports = {urlsplit(url).port or 0 for url in urls.values()}
    fleet, begin = world.fleet, world.fleet.begin
    with ExitStack() as stack:
        partner = Partner()
        stack.callback(partner.stop)
        direct = [partner.server_port]
        line = stack.enter_context(far_network(sorted(ports), direct, world.folder))
        workers = CutWorkers(world, HeardCalls(partner), line.mend)
        stack.callback(workers.remove)
        try:
            fleet.begin = line.begin
            workers.add(urls)
        finally:
            fleet.begin = begin
        yield FarWorkers(workers, line)


def _lossy(world: World) -> None:
    with _far(world) as far:
        bad = partial(far.line.change, delay=LATE, loss={"there": LOST, "back": LOST})
        for _ in range(1 if world.quick else 3):
            far.workers.kept("200 ms of latency and 1 % loss", bad)
        bad()
        far.probe(6 if world.quick else PROBES, "in the bad network")
        far.told()


def _one_way(world: World) -> None:
    with _far(world) as far:
        for way in ("there", "back"):
            some = partial(far.line.change, loss={way: SOME})
            world.injected(f"{SOME:.0%} of the packets {way} lost")
            some()
            far.probe(2 if world.quick else 6, f"with {SOME:.0%} lost {way}")
            far.line.mend()
        for _ in range(1 if world.quick else 2):
            for way in ("there", "back"):
                all_lost = partial(far.line.change, loss={way: 1.0})
                far.workers.taken_over(f"all packets {way} lost", all_lost)
                far.probe(2, f"after all were lost {way}")
        far.told()
        far.workers.judge()


def _names(world: World) -> None:
    with _far(world, "database.far.test", "broker.far.test") as far:

        def anew(**names: object) -> Callable[[], object]:
            """Return a function that cuts every connection, so that the next needs a name
            look-up.
            """
            return partial(far.line.change, names=names, reset=True)

        far.workers.kept("lookups of 2 s, after all connections were cut", anew(delay=LOOKUP))
        anew(delay=LOOKUP)()
        far.probe(2 if world.quick else 6, "with slow lookups")
        far.line.mend()
        for what, mode in (("fail", "fails"), ("get no answer", "silent")):
            broken = anew(mode=mode)
            far.workers.taken_over(f"lookups {what}, after all connections were cut", broken)
            far.probe(2, f"after lookups that {what}")
        far.told()
        far.workers.judge()


LOSSY = Fault(
    "lossy",
    "round trips of 200 ms between workers and servers, and 1 % of the packets lost",
    "who holds a step goes on and records it; a chain of two steps takes under 15 s",
    15,
    _lossy,
    needs=("far-network",),
    load=Load(rate=1),
)
ONE_WAY = Fault(
    "one-way-loss",
    "packets between workers and servers lost in one direction: 20 %, then all",
    "no effect of a holder after its lease; its steps are done once by others in under 35 s; the "
    "workers serve again by themselves",
    35,
    _one_way,
    needs=("far-network",),
    load=Load(rate=1),
)
NAMES = Fault(
    "slow-names",
    "lookups of the database's and broker's names take 2 s, then fail, then get no answer",
    "with slow lookups who holds a step goes on; where they fail, no effect of a holder after its "
    "lease, and its steps are done once by others in under 35 s; the workers serve again by "
    "themselves",
    35,
    _names,
    needs=("far-network",),
    load=Load(rate=1),
)
