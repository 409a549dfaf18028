"""A large graph makes progress although no process lives long: each is replaced at once."""

import os
import signal
import time
from contextlib import suppress
from random import Random
from typing import Any
from uuid import UUID

import pytest

from executions import lifecycle
from runners.conf import config
from runners.models import Run
from runners.process.identity import pid_of
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from tests.support.workflows import ACTOR, describe, publish, start, wait_for_end

TASKS = 2_122
EFFECTS = 20  # one step in this many writes a mark; the others compute
EVERY = 1.0  # seconds between kills
# Enough that no killed process can have done them all. With every step built before the first runs,
# none ended in 40 kills.
ENDED = 400
SECONDS = 120


@pytest.mark.timeout(SECONDS + 60)
def test_steps_of_two_thousand_end_while_a_process_is_killed_each_second(fleet: Fleet) -> None:
    rng = Random(18)
    execution = start(publish({"tasks": [_task(number, rng) for number in range(TASKS)]}))
    began = time.monotonic()
    kills = 0
    runs = Run.objects.filter(execution_id=execution)

    def far() -> bool:
        nonlocal kills
        if time.monotonic() - began >= (kills + 1) * EVERY:
            _kill_a_child(fleet, rng, execution)
            kills += 1
        return kills >= 5 and runs.filter(state="SUCCESS").count() >= ENDED

    wait_until(far, SECONDS, f"the end of {ENDED} steps under kills")
    assert not runs.filter(state__in=["FAILED", "DLQ"]).exists(), describe([execution])
    lifecycle.cancel(execution, actor=ACTOR)
    assert wait_for_end([execution]) == {execution: "CANCELLED"}
    audit([execution])


def _task(number: int, rng: Random) -> dict[str, Any]:
    """Return a step that reads the outputs of up to three earlier ones."""
    before = sorted({f"task_{rng.randrange(number)}" for _ in range(3)}) if number else []
    total = " + ".join(["1", *(f"tasks.{name}.output" for name in before)])
    made = {
        "id": f"task_{number}",
        "use": "test.effect" if number % EFFECTS == 0 else "flow.noop",
        "join": "all",
        "with": {"value": f"{{{{ (({total}) * {number} + 1) % 1000003 }}}}"},
    }
    return made | ({"after": before} if before else {})


def _kill_a_child(fleet: Fleet, rng: Random, execution: UUID) -> None:
    """End one process of the prefork pools whose end does not exhaust a step's retries."""
    found = [pid for name in ("default-1", "default-2") for pid in fleet[name].children]
    # Read last: looking for children is slow, and steps move between workers meanwhile.
    last_try = Run.objects.filter(
        execution_id=execution, state="RUNNING", crashes__gte=config().poison - 1
    )
    spared = {pid_of(holder) for holder in last_try.values_list("leased_by", flat=True)}
    if killable := [pid for pid in found if pid not in spared]:
        with suppress(ProcessLookupError):
            os.kill(rng.choice(killable), signal.SIGKILL)
