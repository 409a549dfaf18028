"""A worker's child is killed in the middle of a step, repeatedly."""

from typing import Any
from uuid import UUID

from tests.chaos.fault import Fault
from tests.chaos.world import World
from tests.support.outages import kill, wait_for_mark
from tests.support.workflows import effect, publish, start_many

KILLS = 40
HANGS_ONCE = {"tasks": [effect("work", hangSeconds=50), effect("after", after="work")]}


def _run(world: World) -> None:
    workflow = publish(HANGS_ONCE)
    world.watch.include([workflow.pk])
    for _ in range(4 if world.quick else KILLS // 2):
        batch = start_many(workflow, [{}] * 2)
        world.own(batch)
        marks = {execution: wait_for_mark(execution) for execution in batch}
        for execution, mark in marks.items():
            _kill(world, execution, mark)


def _kill(world: World, execution: UUID, mark: dict[str, Any]) -> None:
    """Kill a worker's child, and wait until another worker executes the step again."""
    world.injected("kill -9 of a worker's child", mark["pid"])
    killed = kill(mark["pid"])
    again = wait_for_mark(execution, number=2, seconds=60)
    assert again["token"] > mark["token"], "the step was done again under the same token"
    world.recovered("step taken over", (again["at"] - killed).total_seconds())


CHILD_KILLED = Fault(
    "child-killed",
    "`kill -9` of a worker child during a step",
    "the step is taken over in under 2 s",
    2,
    _run,
)
