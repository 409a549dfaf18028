"""Steps that stop every other thread of their process: the watchdog ends the process and blames
them.
"""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from runners.models import Run
from runners.process.identity import started
from tests.support.auditor import audit
from tests.support.fleet import Fleet, Member
from tests.support.outages import marks_of, wait_for_mark
from tests.support.waiting import wait_until
from tests.support.workflows import effect, publish, start, start_many, task, wait_for_end

# On a starved machine, the watchdog cannot blame a step in time, and the cause stays unknown.
pytestmark = pytest.mark.quiet

THREADS = 64
COMPANIONS = 12


@pytest.fixture
def shared(fleet: Fleet) -> Iterator[Member]:
    """Run a worker of a separate queue, whose steps share one process."""
    member = fleet.worker("shared", "shared", "threads", THREADS)
    fleet.ensure()
    yield member
    fleet.remove("shared")


def test_a_step_that_stalls_a_shared_process_is_blamed_and_its_companions_are_not(
    fleet: Fleet, shared: Member, held: Path
) -> None:
    companion = effect("work", whileThere=str(held), timeoutSeconds=600) | {"queue": "shared"}
    companions = start_many(publish({"tasks": [companion]}), [{}] * COMPANIONS)
    wait_until(lambda: in_flight(companions) == COMPANIONS, 60, "all companions in flight")
    stalls = start(publish({"tasks": [effect("work", stallTimes=1) | {"queue": "shared"}]}))
    wait_until(lambda: not shared.alive(), 40, "the end of the stalled worker")
    held.unlink()
    fleet.ensure()
    assert set(wait_for_end([stalls, *companions], 120).values()) == {"SUCCESS"}
    run = Run.objects.get(execution_id=stalls)
    assert (run.crashes, run.suspect) == (1, True)
    assert "stalled its worker process" in run.crash_cause
    assert not Run.objects.filter(execution_id__in=companions, crashes__gt=0).exists()
    audit([stalls, *companions])


def test_a_step_that_stalls_every_process_becomes_a_dead_letter(
    fleet: Fleet, shared: Member
) -> None:
    stalls = start(publish({"tasks": [effect("work", stallTimes=99) | {"queue": "shared"}]}))
    wait_until(lambda: not shared.alive(), 40, "the end of the stalled worker")
    fleet.ensure()
    assert wait_for_end([stalls], 120)[stalls] == "FAILED"
    run = Run.objects.get(execution_id=stalls)
    assert (run.state, run.crashes) == ("DLQ", 3)
    assert "stalled its worker process" in run.error
    assert shared.alive(), "as a suspect it stalled processes of its own"
    audit([stalls])


def test_a_step_that_stalls_a_child_of_a_pool_ends_that_child_alone(fleet: Fleet) -> None:
    stalls = start(publish({"tasks": [effect("work", stallTimes=1)]}))
    pid = wait_for_mark(stalls)["pid"]
    worker = fleet.member_of(pid)
    neighbour = start(publish({"tasks": [effect("work", seconds=5)]}))
    assert set(wait_for_end([stalls, neighbour]).values()) == {"SUCCESS"}
    wait_until(lambda: not started(pid), 20, "the end of the stalled child")
    assert worker.alive()
    run = Run.objects.get(execution_id=stalls)
    assert (run.crashes, "stalled" in run.crash_cause) == (1, True)
    assert len(marks_of(neighbour, "work.main")) == 1
    audit([stalls, neighbour])


def test_a_step_that_stalls_in_memory_behind_another_is_the_one_that_is_blamed(
    fleet: Fleet,
) -> None:
    tasks = [task("first")]
    tasks += [task("second", "test.staller", "first")]
    stalls = start(publish({"tasks": tasks}))
    assert wait_for_end([stalls], 120)[stalls] == "FAILED"
    first, second = (run_of(stalls, f"{name}.main") for name in ("first", "second"))
    assert (first.state, first.crashes) == ("SUCCESS", 0)
    assert (second.state, second.crashes) == ("DLQ", 3)
    assert "stalled its worker process" in second.error
    audit([stalls])


def in_flight(ids: list[UUID]) -> int:
    return Run.objects.filter(execution_id__in=ids, state="RUNNING").count()


def run_of(execution: UUID, path: str) -> Run:
    return Run.objects.get(execution_id=execution, step_path=path)
