"""Races between steps that end and users (or other steps) that move the execution."""

from threading import Barrier
from uuid import UUID

import pytest
from django.db import connection, transaction

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions import lifecycle
from executions.admission.capacity import active
from executions.errors import WrongState
from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.auditor import audit
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.segments import claimed, recorded, run_of
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, effect, limited_workspace, publish, start, states

JOIN = {
    "tasks": [
        effect("left"),
        effect("right"),
        effect("join", after=["left", "right"], join="all"),
    ]
}
TWO = {"tasks": [effect("one"), effect("two", after="one")]}


def test_of_two_last_branches_exactly_one_plans_the_join(queue: World, rivals: Rivals) -> None:
    execution = start(publish(JOIN))
    left, right = claimed(execution, "left.main"), claimed(execution, "right.main")
    with transaction.atomic():
        assert recorded(left) is None, "the other branch is not done yet"
        other = rivals.begin(recorded, right)
        wait_until_blocked(my_session())
    work = other.result(60)
    assert work is not None
    assert work.step.path == "join.main"
    assert Run.objects.filter(execution_id=execution, step_path="join.main").count() == 1
    assert recorded((right[0], work)) is None
    assert states([execution])[execution] == "SUCCESS"
    audit([execution])


def test_a_pause_during_a_segment_lets_the_step_end_and_starts_no_other(
    queue: World, rivals: Rivals
) -> None:
    execution = start(publish(TWO))
    held = claimed(execution, "one.main")
    with transaction.atomic():
        lifecycle.pause(execution, actor=ACTOR)
        end = rivals.begin(recorded, held)
        wait_until_blocked(my_session())
    assert end.result(60) is None
    assert run_of(execution, "one.main").state == "SUCCESS"
    assert run_of(execution, "two.main").state == "PENDING"
    queue.drain()
    assert run_of(execution, "two.main").state == "PENDING"
    lifecycle.resume(execution, actor=ACTOR)
    queue.drain()
    assert states([execution])[execution] == "SUCCESS"
    audit([execution])


def test_an_execution_whose_last_step_ends_in_a_pause_ends_when_resumed(queue: World) -> None:
    execution = start(publish({"tasks": [effect("one")]}))
    held = claimed(execution, "one.main")
    lifecycle.pause(execution, actor=ACTOR)
    recorded(held)
    assert states([execution])[execution] == "PAUSED"
    lifecycle.resume(execution, actor=ACTOR)
    assert states([execution])[execution] == "SUCCESS"


def test_of_two_people_who_requeue_one_wins_and_the_other_is_told(
    queue: World, rivals: Rivals
) -> None:
    execution = start(publish({"tasks": [effect("one", failTimes=1, errorType="PERMANENT")]}))
    queue.drain()
    assert states([execution])[execution] == "FAILED"
    letter = DeadLetterEntry.objects.get(execution_id=execution)
    with transaction.atomic():
        run = requeue(letter.pk, actor=ACTOR)
        other = rivals.begin(requeue, letter.pk, actor=ACTOR)
        wait_until_blocked(my_session())
    with pytest.raises(WrongState):
        other.result(60)
    queue.drain()
    runs = list(Run.objects.filter(execution_id=execution).order_by("attempt"))
    assert [(r.attempt, r.state) for r in runs] == [(1, "DLQ"), (2, "SUCCESS")]
    assert runs[1].pk == run.pk
    assert runs[0].idempotency_key != runs[1].idempotency_key, "a permanent error: a new key"
    assert states([execution])[execution] == "SUCCESS"
    audit([execution])


def test_a_requeue_and_a_cancel_at_once_leave_no_live_run(queue: World, rivals: Rivals) -> None:
    tasks = [effect("one", failTimes=9, errorType="PERMANENT"), effect("slow")]
    execution = start(publish({"tasks": tasks}))
    slow = claimed(execution, "slow.main")
    recorded(claimed(execution, "one.main"))
    letter = DeadLetterEntry.objects.get(execution_id=execution)
    with transaction.atomic():
        lifecycle.cancel(execution, actor=ACTOR)
        other = rivals.begin(requeue, letter.pk, actor=ACTOR)
        wait_until_blocked(my_session())
    with pytest.raises(WrongState):
        other.result(60)
    assert slow is not None
    assert states([execution])[execution] == "CANCELLED"
    assert DeadLetterEntry.objects.get(pk=letter.pk).resolution == "PENDING"
    audit([execution])


def test_a_limit_is_never_exceeded_however_many_start_at_once(queue: World, rivals: Rivals) -> None:
    workspace = limited_workspace(3)
    workflow = publish(TWO, workspace)
    together = Barrier(8)

    def ask() -> list[UUID]:
        connection.ensure_connection()
        together.wait(60)
        return [start(workflow) for _ in range(3)]

    ids = [pk for asker in [rivals.begin(ask) for _ in range(8)] for pk in asker.result(60)]
    assert active(workspace.pk) == 3
    assert sorted(states(ids).values()) == ["PENDING"] * 21 + ["RUNNING"] * 3
    while queue.queue or queue.workers:
        queue.turn()
        assert active(workspace.pk) <= 3
    assert set(states(ids).values()) == {"SUCCESS"}
    audit(ids)


def test_whoever_starts_waits_for_whoever_takes_the_last_place(
    queue: World, rivals: Rivals
) -> None:
    workspace = limited_workspace(1)
    workflow = publish(TWO, workspace)
    with transaction.atomic():
        first = start(workflow)
        other = rivals.begin(start, workflow)
        wait_until_blocked(my_session())
    second = other.result(60)
    assert states([first, second]) == {first: "RUNNING", second: "PENDING"}
    queue.drain()
    assert WorkflowExecution.objects.get(pk=second).state == "SUCCESS"


def test_a_cancelled_execution_gives_its_place_to_the_one_that_waits(queue: World) -> None:
    workflow = publish(TWO, limited_workspace(1))
    first, second = start(workflow), start(workflow)
    lifecycle.cancel(first, actor=ACTOR)
    assert states([first, second]) == {first: "CANCELLED", second: "RUNNING"}
