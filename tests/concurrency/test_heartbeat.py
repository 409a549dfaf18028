"""The heartbeat of a process renews leases, ends steps past their time, and returns work."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from executions import lifecycle
from executions.definition.versions import compiled
from executions.models import WorkflowExecution
from runners.models import Run
from runners.pipeline import execute, lease_renewal, load_segment, receive, self_stops
from runners.pipeline.active_run import ActiveRun
from runners.pipeline.lease_renewal import Heart
from runners.process import own_connection
from runners.segment.packs import SiblingPack
from tests.support.rivals import Rivals
from tests.support.segments import claimed
from tests.support.single_thread import World, configured
from tests.support.waiting import wait_until
from tests.support.watched import watched
from tests.support.workflows import ACTOR, effect, publish, start, start_many, states

PATH = "b0.main"


@pytest.fixture
def heart() -> Iterator[Heart]:
    made = Heart()
    yield made
    looks = threading.Event()

    class Nothing(dict[Any, ActiveRun]):
        def values(self) -> Any:
            looks.set()
            return super().values()

    made._beats = Nothing()
    assert made._thread is None or looks.wait(60), "its last look is over"
    made._drop()  # its connection, so that the database can be dropped


@pytest.fixture
def signals(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Collect the signals that this process would send to itself."""
    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append(number))
    return sent


def beat(*, since: float = 0, seconds: float = 60, siblings: int = 0) -> ActiveRun:
    """Return an executing step whose lease was renewed `since` seconds ago."""
    execution = start(publish({"tasks": [effect(f"b{n}") for n in range(1 + siblings)]}))
    _, work = claimed(execution, PATH)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE runners_run SET heartbeat_at = NULL WHERE id = %s", [work.run_id])
    now = time.monotonic()
    return ActiveRun(work, until=now + seconds, renewed=now - since)


def row(one: ActiveRun) -> Run:
    return Run.objects.get(pk=one.work.run_id)


def test_a_thread_renews_the_lease_of_a_step_and_tells_what_it_reported(
    queue: World, heart: Heart, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_renewal, "TICK", 0.01)
    execution = start(publish({"tasks": [effect("b0")]}))
    _, work = claimed(execution, PATH)
    with watched(monkeypatch) as memory, configured(heartbeat=0.0, lease=100):
        held = heart.hold(work, 60)
        held.tell({"row": 7})
        wait_until(lambda: held.renewed > work.claimed_at, what="a renewal")
        assert row(held).heartbeat_details == {"row": 7}
        heart.release(held)
        [thread] = [one for one in threading.enumerate() if one is heart._thread]
        assert memory.head().heart == thread.native_id
    renewed = row(held)
    assert renewed.lease_until is not None
    assert renewed.heartbeat_at is not None
    assert (renewed.lease_until - renewed.heartbeat_at).total_seconds() > 50
    assert heart._active() == []


# The heartbeat and a third of the lease, in seconds: the shorter one decides.
@pytest.mark.parametrize(("heartbeat", "lease"), [(1000, 30), (10, 90)])
def test_a_lease_is_renewed_after_a_heartbeat_or_a_third_of_it(
    queue: World, heart: Heart, heartbeat: float, lease: float
) -> None:
    young, old = beat(since=9.5), beat(since=10.5)
    with configured(heartbeat=heartbeat, lease=lease):
        heart._renew([young, old])
    assert row(young).heartbeat_at is None
    assert row(old).heartbeat_at is not None
    assert time.monotonic() - old.renewed < 5


@pytest.mark.parametrize("flag", ["unwanted", "expired", "obeyed", "interrupted"])
def test_a_step_that_must_end_is_not_renewed(queue: World, heart: Heart, flag: str) -> None:
    one = beat(since=1000)
    setattr(one, flag, True)
    heart._renew([one])
    assert row(one).heartbeat_at is None


def test_a_cancelled_step_is_told_and_its_companion_is_not(queue: World, heart: Heart) -> None:
    gone, kept = beat(since=1000), beat(since=1000)
    kept.ending = True
    lifecycle.cancel(row(gone).execution_id, actor=ACTOR)
    heart._renew([gone, kept])
    assert (gone.unwanted, gone.cancelled()) == (True, True)
    assert (kept.unwanted, kept.ending, kept.cancelled()) == (False, False, False)


def test_a_renewal_that_fails_is_tried_again_on_a_new_connection(
    queue: World, heart: Heart, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = beat(since=1000)
    known = own_connection.parameters()
    with monkeypatch.context() as patched:
        patched.setattr(own_connection, "parameters", lambda: known | {"dbname": "nowhere"})
        heart._renew([one])
    assert (row(one).heartbeat_at, one.unwanted) == (None, False)
    assert time.monotonic() - one.renewed > 999
    heart._renew([one])
    assert row(one).heartbeat_at is not None
    first = heart._connection
    assert first is not None
    first.close()  # as if the server had restarted
    one.renewed -= 1000
    heart._renew([one])
    assert time.monotonic() - one.renewed < 5
    second = heart._connection
    assert second is not None
    heart._drop()
    assert second.closed


@pytest.mark.parametrize("pool", ["threads", "processes"])
def test_a_step_that_ignores_its_time_fails_once_and_costs_a_process_that_is_its_own(
    queue: World, heart: Heart, signals: list[int], monkeypatch: pytest.MonkeyPatch, pool: str
) -> None:
    monkeypatch.setattr(lease_renewal, "pool", lambda: pool)
    late, soon = beat(seconds=-3), beat(seconds=-1)
    with configured(grace=2, stuck_threads=2):
        heart._expire([late, soon])
        heart._expire([late, soon])
    failed = row(late)
    assert (failed.state, failed.error_type, row(soon).state) == ("FAILED", "TIMEOUT", "RUNNING")
    assert failed.error.startswith(f"Step {PATH} did not finish within its timeout of ")
    assert Run.objects.filter(execution_id=failed.execution_id).count() == 2, "it is tried again"
    assert signals == ([] if pool == "threads" else [signal.SIGKILL])


def test_a_step_that_was_taken_over_meanwhile_does_not_fail(
    queue: World, heart: Heart, signals: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_renewal, "pool", lambda: "threads")
    one = beat(seconds=-100)
    one.work.token -= 1
    heart._expire([one])
    assert (one.expired, row(one).state) == (True, "RUNNING")


def test_a_process_of_threads_restarts_if_too_many_of_them_are_stuck(
    queue: World, heart: Heart, signals: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_renewal, "pool", lambda: "threads")
    stuck = [beat(), beat()]
    with configured(stuck_threads=2):
        for number, one in enumerate(stuck, 1):
            heart._beats[one.work.run_id] = one
            one.expired = True
            assert heart.stuck() == number
            heart._expire(stuck)
            assert signals == [signal.SIGTERM] * (number - 1)
        heart.release(stuck[0])
        assert heart.stuck() == 1


@pytest.mark.parametrize("late", [True, False])
def test_what_waits_for_a_slow_step_is_handed_to_other_workers(
    queue: World, heart: Heart, late: bool
) -> None:
    one = beat(siblings=1)
    run = row(one)
    one.pack = SiblingPack(
        _version(run.execution_id), deque(["b1.main"]), time.monotonic() + (-1 if late else 100),
        0, run.execution_id,
    )  # fmt: skip
    queue.queue.clear()
    heart._look_after([one])
    handing = [thread for thread in threading.enumerate() if thread.name == "valkyr-pack"]
    for thread in handing:
        thread.join(10)
    assert [message.segment for message in queue.queue] == (["b1.main"] if late else [])
    assert list(one.pack.left) == ([] if late else ["b1.main"])
    assert states([run.execution_id]) == {run.execution_id: "RUNNING"}


@pytest.mark.parametrize("together", ["siblings", "executions"])
def test_work_that_came_with_a_slow_step_is_sent_while_it_runs(
    queue: World, monkeypatch: pytest.MonkeyPatch, together: str
) -> None:
    monkeypatch.setattr(lease_renewal, "TICK", 0.01)
    tasks = [effect(f"b{n}", seconds=0 if n else 0.7) for n in range(2)]
    if together == "siblings":
        execution = start(publish({"tasks": tasks}))
        pack: Any = SiblingPack(
            _version(execution), deque(["b1.main"]), time.monotonic(), 0, execution
        )
        state, work = claimed(execution, PATH)
        state.pack = pack
    else:
        ids = start_many(publish({"tasks": tasks[:1]}), [{}] * 2)
        pack = load_segment.load_pack(_version(ids[0]).id, PATH, ids)
        begun = receive.next_execution(pack)
        assert begun is not None
        state, work = begun
        pack.until = time.monotonic()
    queue.queue.clear()
    unit = execute.perform(state, work)
    assert unit.head is not None
    assert unit.head.milliseconds >= 700
    assert list(pack.left) == []
    [message] = queue.queue
    assert message.segment == ("b1.main" if together == "siblings" else PATH)


def test_the_lease_guard_begins_with_the_first_step(
    queue: World, heart: Heart, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_stops, "of_a_worker", lambda: True)
    monkeypatch.setattr(self_stops.lease_guard, "period", lambda lease: 3600)
    one = beat()
    with Rivals(1) as threads:  # not the main one, whose signals stay as they are
        threads.begin(heart.hold, one.work, 60).result(60)
    assert heart._guard._armed
    [held] = heart._active()
    heart.release(held)


def _version(execution: UUID) -> Any:
    return compiled(
        WorkflowExecution.objects.values_list("version_id", flat=True).get(pk=execution)
    )
