"""Suspect steps run in their own processes, whose end affects no other step."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
import pytest
from django.db import transaction

from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet, Member
from tests.support.outages import kill, marks_of, wait_for_mark
from tests.support.waiting import wait_until, wait_until_gone
from tests.support.workflows import effect, publish, start_many, wait_for_end

QUEUE = "apart"
PLACES = 2
Suspects = Callable[..., list[UUID]]


@pytest.fixture(scope="module")
def apart(whole_fleet: Fleet) -> Iterator[str]:
    """Run one worker of threads of the suspects' queue for all tests of this file; yield its
    name.
    """
    whole_fleet.worker(QUEUE, QUEUE, "threads", 16, VALKYR_ISOLATED_STEPS=str(PLACES))
    yield QUEUE
    whole_fleet.remove(QUEUE)


@pytest.fixture
def worker(apart: str, fleet: Fleet) -> Member:
    """Return the running worker of the suspects."""
    return fleet[apart]


@pytest.fixture
def suspects(worker: Member) -> Suspects:
    """Return a function that starts executions whose only step is a suspect before the worker gets
    their messages.
    """

    def started(number: int, **inputs: Any) -> list[UUID]:
        with transaction.atomic():
            ids = begun(number, **inputs)
            Run.objects.filter(execution_id__in=ids).update(suspect=True)
        return ids

    return started


def begun(number: int, **inputs: Any) -> list[UUID]:
    """Start executions of one step on the queue of suspects."""
    document = {"tasks": [effect("work", **inputs) | {"queue": QUEUE}, effect("on", after="work")]}
    return start_many(publish(document), [{}] * number)


@pytest.mark.parametrize(
    ("number", "named"),
    [(signal.SIGSEGV, "SIGSEGV"), (signal.SIGKILL, "SIGKILL"), (0, "exit code 3")],
)
def test_a_dead_letter_says_how_the_step_ended_its_processes(
    suspects: Suspects, worker: Member, number: int, named: str
) -> None:
    ids = suspects(1, killTimes=99, killBy=int(number))
    assert set(wait_for_end(ids).values()) == {"FAILED"}
    run = Run.objects.get(execution_id=ids[0])
    assert (run.state, run.crashes, run.attempt) == ("DLQ", 3, 1)
    assert named in run.error
    assert named in run.crash_cause
    assert worker.alive()
    pids = {mark["pid"] for mark in marks_of(ids[0], "work.main")}
    assert len(pids) == 3
    assert worker.pid not in pids
    audit(ids)


def test_a_suspect_that_succeeds_goes_on_to_the_next_step(suspects: Suspects) -> None:
    ids = suspects(5, value={"a": 1})
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    assert not Run.objects.filter(execution_id__in=ids, crashes__gt=0).exists()
    audit(ids)


@pytest.mark.parametrize(("taken", "shared"), [(0, True), (100, False)])
def test_a_process_whose_step_ended_in_order_and_took_little_carries_the_next(
    suspects: Suspects, taken: int, shared: bool
) -> None:
    ids = suspects(2 * PLACES, takeMebibytes=taken)
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    pids = {mark["pid"] for pk in ids for mark in marks_of(pk, "work.main")}
    assert (len(pids) < len(ids)) == shared
    audit(ids)


def test_of_steps_that_share_a_process_one_after_the_other_the_last_is_blamed(
    suspects: Suspects,
) -> None:
    with transaction.atomic():
        good, [poison] = suspects(2 * PLACES), suspects(1, killTimes=99)
    ends = wait_for_end([poison, *good])
    assert ends.pop(poison) == "FAILED"
    assert set(ends.values()) == {"SUCCESS"}
    run = Run.objects.get(execution_id=poison)
    assert (run.state, run.crashes, run.attempt) == ("DLQ", 3, 1)
    assert not Run.objects.filter(execution_id__in=good, crashes__gt=0).exists()
    audit([poison, *good])


def test_a_suspect_ends_at_its_time_limit_and_is_not_blamed(suspects: Suspects) -> None:
    retry = {"maxAttempts": 1}
    ids = suspects(1, seconds=60, ignoreTimeout=True, timeoutSeconds=1, retry=retry)
    assert set(wait_for_end(ids).values()) == {"FAILED"}
    run = Run.objects.get(execution_id=ids[0])
    assert (run.state, run.error_type, run.crashes) == ("DLQ", "TIMEOUT", 0)


def test_a_fork_server_that_is_killed_takes_its_steps_along_and_blames_none(
    suspects: Suspects, held: Path
) -> None:
    ids = suspects(1, whileThere=str(held))
    mark = wait_for_mark(ids[0])
    parent = psutil.Process(mark["pid"]).parent()
    assert parent is not None
    kill(parent.pid)
    wait_until_gone([mark["pid"]])
    held.unlink()
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    assert Run.objects.get(execution_id=ids[0], step_path="work.main").crashes == 0
    audit(ids)


def test_the_isolated_processes_of_a_killed_worker_end_with_it(
    fleet: Fleet, suspects: Suspects, worker: Member, held: Path
) -> None:
    ids = suspects(1, whileThere=str(held))
    mark = wait_for_mark(ids[0])
    worker.kill()
    wait_until_gone([mark["pid"]])
    held.unlink()
    fleet.ensure()
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    run = Run.objects.get(execution_id=ids[0], step_path="work.main")
    assert (run.crashes, run.suspect) == (0, True)
    audit(ids)


def test_suspects_take_no_more_than_their_places_and_hold_up_no_other_step(
    suspects: Suspects, held: Path
) -> None:
    ids = suspects(20, whileThere=str(held), timeoutSeconds=300)
    waiting = Run.objects.filter(execution_id__in=ids)
    wait_until(lambda: waiting.filter(state="RUNNING").count() == PLACES, 30, "all places taken")
    others = begun(10)
    assert set(wait_for_end(others, 30).values()) == {"SUCCESS"}
    assert waiting.filter(state="RUNNING").count() == PLACES
    held.unlink()
    assert set(wait_for_end(ids, 120).values()) == {"SUCCESS"}
    audit([*ids, *others])


def test_a_worker_that_leaves_gives_back_what_it_isolated(
    suspects: Suspects, worker: Member, fleet: Fleet, held: Path
) -> None:
    ids = suspects(1, whileThere=str(held), timeoutSeconds=300)
    mark = wait_for_mark(ids[0])
    worker.ask_to_stop()
    wait_until(lambda: not worker.alive(), 40, "the end of the worker")
    wait_until_gone([mark["pid"]])
    held.unlink()
    fleet.ensure()
    assert set(wait_for_end(ids).values()) == {"SUCCESS"}
    assert Run.objects.get(execution_id=ids[0], step_path="work.main").crashes == 0
