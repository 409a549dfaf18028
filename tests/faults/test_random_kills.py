"""Random workflows run under random kills of random processes for a minute; then the auditor checks
them.
"""

import os
import signal
import time
from contextlib import suppress
from random import Random
from typing import Any
from uuid import UUID

from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.graphs import Drawn, draw
from tests.support.waiting import wait_until
from tests.support.workflows import publish, start, wait_for_end

EXECUTIONS = 50
SECONDS = 60
EVERY = 1.5
SEED = int(os.environ.get("VALKYR_TEST_SEED", "20261120"))


def test_fifty_random_executions_survive_a_minute_of_random_kills(fleet: Fleet) -> None:
    rng = Random(SEED)
    workflows = [(drawn, publish(drawn.document)) for drawn in _drawn(rng)]
    begun: dict[UUID, Drawn] = {}
    kills: list[str] = []
    started = time.monotonic()

    def chaos() -> bool:
        elapsed = time.monotonic() - started
        while len(begun) < EXECUTIONS * min(1, elapsed / (0.8 * SECONDS)):
            drawn, workflow = workflows[len(begun)]
            begun[start(workflow)] = drawn
        if elapsed > len(kills) * EVERY:
            kills.append(_kill_somebody(fleet, rng))
        for member in fleet.members.values():
            if not member.alive():
                member.start()
        return elapsed > SECONDS

    wait_until(chaos, SECONDS + 30, "the end of the minute")
    fleet.ensure()
    ends = wait_for_end(begun, 120)
    done = audit(begun)
    assert len(kills) >= 0.8 * SECONDS / EVERY
    poisoned = set(
        Run.objects.filter(
            execution_id__in=list(begun), error__contains="ended its worker process"
        ).values_list("execution_id", flat=True)
    )
    wrong = {
        str(execution): (ends[execution], drawn.document["tasks"])
        for execution, drawn in begun.items()
        if execution not in poisoned and ends[execution] != drawn.story().state
    }
    assert not wrong
    print(f"{len(kills)} kills, {done.repeats} repeated effects, {len(poisoned)} poisoned")


def _drawn(rng: Random) -> list[Drawn]:
    """Draw workflows, half of them with bodies and steps that wait."""
    nested = {"most": 8, "depth": 3, "waits": 0.3, "steps": 40}
    kinds: list[dict[str, Any]] = [{}, nested]
    return [draw(rng, seconds=0.4, **kinds[number % 2]) for number in range(EXECUTIONS)]


def _kill_somebody(fleet: Fleet, rng: Random) -> str:
    """Kill a child three times out of four, otherwise a whole process; return its name."""
    children = [pid for name in ("default-1", "default-2") for pid in fleet[name].children]
    if children and rng.random() < 0.75:
        with suppress(ProcessLookupError):
            os.kill(rng.choice(children), signal.SIGKILL)
        return "child"
    name = rng.choice(sorted(fleet.members))
    if fleet[name].alive():
        fleet[name].kill()
    return name
