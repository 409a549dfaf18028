"""When a process ends, the step that ended it is blamed, and not the other steps of the process."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from uuid import UUID

import pytest

from runners.models import Run
from runners.pipeline.crashes import mend
from runners.process.cause_of_death import crash
from tests.support.auditor import audit
from tests.support.fleet import Fleet, Member
from tests.support.outages import kill, marks_of, wait_for_mark
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish, start, start_many, wait_for_end

THREADS = 256
FEWER = 64  # of a worker that is killed often: each step in flight then gets its own process
KILLS = 20
FRESH = 8  # steps that a worker begins between two kills, besides those that it lost
LATEST = 1.5  # seconds
SEED = int(os.environ.get("VALKYR_TEST_SEED", "20261125"))


@pytest.fixture
def crowded(fleet: Fleet, request: pytest.FixtureRequest) -> Iterator[Member]:
    """Run a worker of a separate queue, with as many threads as the real worker of `io`, or as many
    as the test's parameter.
    """
    threads = getattr(request, "param", THREADS)
    member = fleet.worker("crowded", "crowded", "threads", threads)
    fleet.ensure()
    yield member
    fleet.remove("crowded")


def crowd(number: int, held: Path, **inputs: object) -> list[UUID]:
    """Start executions on the crowded queue whose only step waits until the file is removed."""
    task = effect("work", whileThere=str(held), timeoutSeconds=600, **inputs)
    return start_many(publish({"tasks": [task | {"queue": "crowded"}]}), [{}] * number)


def test_of_256_steps_in_flight_only_the_one_that_ends_the_process_is_dead(
    fleet: Fleet, crowded: Member, held: Path
) -> None:
    innocent = crowd(THREADS - 1, held)
    wait_until(lambda: in_flight(innocent) == len(innocent), 60, "all steps in flight")
    poison = start(publish({"tasks": [effect("work", killTimes=99) | {"queue": "crowded"}]}))
    wait_until(lambda: not crowded.alive(), 30, "the end of the worker")
    held.unlink()
    fleet.ensure()
    ends = wait_for_end([poison, *innocent], 240)
    assert ends.pop(poison) == "FAILED"
    assert Counter(ends.values()) == {"SUCCESS": len(innocent)}
    run = Run.objects.get(execution_id=poison)
    assert (run.state, run.crashes, run.attempt) == ("DLQ", 3, 1)
    assert "SIGKILL" in run.error
    assert not Run.objects.filter(execution_id__in=innocent, crashes__gt=0).exists()
    assert crowded.alive(), "the poison ends processes of its own only"
    # With its companions once, without them three times.
    assert len(marks_of(poison, "work.main")) == 4
    audit([poison, *innocent])


@pytest.mark.parametrize("crowded", [FEWER], indirect=True)
def test_a_worker_killed_twenty_times_at_random_makes_no_dead_letter(
    fleet: Fleet, crowded: Member, held: Path
) -> None:
    rng = Random(SEED)
    print(f"VALKYR_TEST_SEED={SEED}")
    ids = crowd(FEWER, held)
    wait_until(lambda: in_flight(ids) == FEWER, 60, "all steps in flight")
    for number in range(KILLS):
        crowded.kill()
        crowded.start()
        if number == KILLS // 2:
            held.unlink()  # from now on steps end and are recorded while the worker is killed
        ids += busy_for_a_while(rng, held)
    fleet.ensure()
    assert Counter(wait_for_end(ids, 240).values()) == {"SUCCESS": len(ids)}
    assert not Run.objects.filter(execution_id__in=ids, crashes__gt=0).exists()
    audit(ids)


def test_a_killed_child_of_a_pool_is_blamed_on_its_own_step_alone(fleet: Fleet) -> None:
    task = effect("work", hangSeconds=60, hangTimes=1, timeoutSeconds=300)
    ids = start_many(publish({"tasks": [task]}), [{}] * 4)
    marks = [wait_for_mark(execution) for execution in ids]
    victim, others = ids[0], ids[1:]
    kill(marks[0]["pid"])
    assert wait_for_end([victim], 30) == {victim: "SUCCESS"}
    assert Run.objects.get(execution_id=victim).crashes == 1
    held = Run.objects.filter(execution_id__in=others).values_list("state", "crashes", "suspect")
    assert set(held) == {("RUNNING", 0, False)}
    for name in ("default-1", "default-2"):
        fleet[name].kill()
    fleet.ensure()
    assert set(wait_for_end(others, 60).values()) == {"SUCCESS"}
    assert not Run.objects.filter(execution_id__in=others, crashes__gt=0).exists()
    audit(ids)


@pytest.mark.parametrize("crowded", [FEWER], indirect=True)
def test_a_step_that_another_process_blames_is_fenced_and_dead_after_three(
    fleet: Fleet, crowded: Member, held: Path
) -> None:
    [execution] = crowd(1, held)
    for number in range(1, 4):
        mark = wait_for_mark(execution, number=number, seconds=60)
        held_by = (execution, mark["run"], mark["token"], number - 1)
        assert mend(*held_by, crash("its worker's heartbeat stalled")) == 1
        assert mend(*held_by, crash("seen late")) == 0, "counted once"
    held.unlink()
    assert wait_for_end([execution], 60) == {execution: "FAILED"}
    run = Run.objects.get(execution_id=execution)
    assert (run.state, run.crashes, run.crash_cause) == ("DLQ", 3, "its worker's heartbeat stalled")
    assert "heartbeat stalled" in run.error


def in_flight(ids: list[UUID]) -> int:
    """Return how many of these executions' steps a worker holds now."""
    return Run.objects.filter(execution_id__in=ids, state="RUNNING").count()


def busy_for_a_while(rng: Random, held: Path) -> list[UUID]:
    """Start more executions, wait until a worker has begun some, and then for a random time."""
    ids = crowd(FRESH, held)
    wanted = rng.randint(1, FRESH)

    def begun() -> int:
        return sum(bool(marks_of(execution, "work.main")) for execution in ids)

    wait_until(lambda: begun() >= wanted, 60, f"the begin of {wanted} steps of a fresh worker")
    moment = time.monotonic() + rng.uniform(0, LATEST)
    wait_until(lambda: time.monotonic() >= moment, 2 * LATEST, "the next kill")
    return ids
