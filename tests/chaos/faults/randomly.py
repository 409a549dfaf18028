"""200 random executions while random processes are killed at random moments."""

import os
import signal
import time
from contextlib import suppress
from random import Random
from typing import Any
from uuid import UUID

from executions.models import Workflow
from runners.models import Run
from tests.chaos.doors import Http
from tests.chaos.fault import Fault, Load
from tests.chaos.plan import Kill, kills
from tests.chaos.world import World
from tests.support.graphs import Drawn, draw
from tests.support.workflows import publish, states

EXECUTIONS = 200
NESTED: dict[str, Any] = {"most": 8, "depth": 3, "waits": 0.3, "steps": 40}


def _drawn(random: Random, number: int) -> list[Drawn]:
    """Draw workflows, half of them with bodies and steps that wait."""
    kinds: list[dict[str, Any]] = [{}, NESTED]
    return [draw(random, seconds=0.4, **kinds[one % 2]) for one in range(number)]


def _run(world: World) -> None:
    seconds = 60 * world.minutes
    plan = kills(world.random, seconds)
    drawn = _drawn(world.random, 30 if world.quick else EXECUTIONS)
    workflows = [publish(one.document) for one in drawn]
    world.watch.include(workflow.pk for workflow in workflows)
    begun = _storm(world, seconds, plan, workflows)
    world.own(begun.values())
    world.fleet.ensure()
    world.wait_all_ended(180)
    _as_drawn(world, drawn, begun)


def _storm(
    world: World, seconds: float, plan: list[Kill], workflows: list[Workflow]
) -> dict[int, UUID]:
    """Start and kill in parallel; return each workflow's execution."""
    door = Http(world.web.address, world.token)
    begun: dict[int, UUID] = {}
    left = list(plan)
    started = time.monotonic()
    while (now := time.monotonic() - started) < seconds or len(begun) < len(workflows):
        assert now < seconds + 120, f"only {len(begun)} of {len(workflows)} were accepted"
        while left and left[0].at <= now:
            _kill(world, left.pop(0))
        if len(begun) < len(workflows) * min(1, now / (0.8 * seconds)):
            number = len(begun)
            answer = door.ask(workflows[number], f"{world.seed}:random:{number}")
            if answer.accepted is not None:
                begun[number] = answer.accepted
        world.restart()
        time.sleep(0.05)
    return begun


def _kill(world: World, kill: Kill) -> None:
    prefork = [world.fleet[name] for name in ("default-1", "default-2")]
    if kill.kind == "child":
        pid = kill.of(sorted(pid for member in prefork for pid in member.children))
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            world.injected("kill -9 of a child", pid)
    elif kill.kind == "web":
        world.injected("kill -9 of web", world.web.pid)
        world.web.kill()
    else:
        beat = kill.kind == "beat"
        members = [m for name, m in world.fleet.members.items() if name.startswith("beat") == beat]
        member = kill.of([one for one in members if one.alive()])
        if member is not None:
            world.injected(f"kill -9 of a {kill.kind}", member.pid, *member.children)
            member.kill()


def _as_drawn(world: World, drawn: list[Drawn], begun: dict[int, UUID]) -> None:
    """Check that each execution ended as drawn, unless chance killed one step's workers three
    times.
    """
    poisoned = set(
        Run.objects.filter(
            execution_id__in=begun.values(), error__contains="ended its worker process"
        ).values_list("execution_id", flat=True)
    )
    ends = states(begun.values())
    wrong = [
        f"{execution} is {ends[execution]}; its drawing ends {drawn[number].story().state}"
        for number, execution in begun.items()
        if execution not in poisoned and ends[execution] != drawn[number].story().state
    ]
    world.figure("executions with a step that failed after three kills", len(poisoned))
    assert not wrong, "\n".join(wrong)


RANDOM = Fault(
    "random",
    "200 random executions, random kills of random processes (children, workers, beat, web)",
    "each ends as a plain interpreter of its definition says; audited",
    None,
    _run,
    load=Load(rate=0),
)
