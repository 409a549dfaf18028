"""Every message is delivered twice, some are overtaken by later ones, and some are lost."""

import os

from tests.chaos import meddling
from tests.chaos.fault import Fault, Load
from tests.chaos.world import World
from tests.support.waiting import wait_until


def _run(world: World) -> None:
    flag = world.folder / "meddle"
    os.environ[meddling.VARIABLE] = str(flag)  # the load's own messages, too
    flag.touch()
    world.injected("messages doubled, three of ten held back")
    try:
        wanted = 15 if world.quick else 150
        wait_until(lambda: len(world.load.accepted) >= wanted, 150, f"{wanted} executions")
        world.load.stop()
        world.wait_all_ended()
    finally:
        flag.unlink()


MESSAGES = Fault(
    "messages",
    "every message delivered twice; messages reordered, some lost",
    "audited as all others: each step's success is recorded once",
    None,
    _run,
    load=Load(rate=4),
)
