"""One node of a RabbitMQ cluster of three is killed, then a second one; later, both return."""

from executions.database.clock import database_now
from tests.chaos.fault import Fault, Load
from tests.chaos.faults.broker import nothing_was_refused, steps_run_again
from tests.chaos.servers.rabbit import ClusterBroker
from tests.chaos.world import World
from tests.support.waiting import wait_until

WITHOUT_MAJORITY = 20.0  # seconds
SLOWEST = 6.0  # seconds until an answer of the API


def _killed(world: World) -> None:
    assert isinstance(world.broker, ClusterBroker)
    first, second, _ = nodes = world.broker.cluster.nodes
    wait_until(lambda: len(world.load.accepted) >= 20, 60, "twenty executions")
    world.injected("kill -9 of a node: two are left")
    first.kill()  # clients got its address first
    steps_run_again(world, database_now())
    world.pause(10)
    before = len(world.load.accepted)
    with world.excused():
        world.injected("kill -9 of a second node: no majority")
        second.kill()
        world.pause(5 if world.quick else WITHOUT_MAJORITY)
        during = len(world.load.accepted) - before
        for node in nodes[:2]:
            node.launch()
        for node in nodes[:2]:
            node.wait()
    back = database_now()
    steps_run_again(world, back)
    nothing_was_refused(world, during)
    slowest = world.load.slowest
    assert slowest < SLOWEST, f"an answer took {slowest:.1f} s; allowed: {SLOWEST:g} s"
    world.pause(5)


NODE_KILLED = Fault(
    "rabbit-node-killed",
    "`kill -9` of one node of a RabbitMQ cluster of three, then of a second; both return",
    "with two nodes all goes on; with one the API still answers 202; nothing accepted is lost, "
    "steps run in under 30 s after a kill or a return",
    30,
    _killed,
    needs=("rabbitmq",),
    load=Load(api=True),
)
