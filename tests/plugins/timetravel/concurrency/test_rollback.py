"""A roll-back races with steps that end, other roll-backs, cancels, requeues and forks."""

from uuid import UUID

import pytest
from django.db import transaction

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions import lifecycle
from executions.errors import WrongState
from executions.models import WorkflowExecution
from runners.errors import LeaseLost
from runners.models import Run
from runners.pipeline import claim_run
from runners.segment.work import Work
from tests.support.auditor import audit
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.segments import Held, claimed, recorded, seen
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, effect, publish, start, states, task
from valkyr_plugins.timetravel.fork import fork
from valkyr_plugins.timetravel.restore_points import NoSuchPoint
from valkyr_plugins.timetravel.rollback import roll_back

CHAIN = {
    "variables": {"stage": "new"},
    "tasks": [
        effect("one"),
        task("note", "flow.set_variables", "one", **{"with": {"values": {"stage": "noted"}}}),
        effect("two", "note"),
        effect("three", "two"),
    ],
}
FAILING = {"tasks": [effect("one"), effect("bad", "one", failTimes=1, errorType="PERMANENT")]}


def holding(execution: UUID, path: str) -> Held:
    """Return a worker that holds a step after its predecessors ended."""
    while True:
        pending = Run.objects.filter(execution_id=execution, state="PENDING", superseded=False)
        state, claim = claimed(execution, pending.get().segment)
        work: Work | None = claim
        while work is not None:
            if work.path == path:
                return state, work
            work = recorded((state, work))


def failed() -> UUID:
    execution = start(publish(FAILING))
    held = holding(execution, "bad.main")
    recorded(held)
    assert states([execution])[execution] == "FAILED"
    return execution


def ends_well(queue: World, execution: UUID) -> None:
    queue.drain()
    assert states([execution])[execution] == "SUCCESS"
    live = Run.objects.filter(execution_id=execution, finished_at=None)
    assert not live.exists()
    audit([execution])


def test_a_step_that_ends_during_a_roll_back_is_refused(queue: World, rivals: Rivals) -> None:
    execution = start(publish(CHAIN))
    held = holding(execution, "two.main")
    with transaction.atomic():
        roll_back(execution, step_path="one.main", actor=ACTOR)
        end = rivals.begin(recorded, held)
        wait_until_blocked(my_session())
    with pytest.raises(LeaseLost):
        end.result(60)
    assert Run.objects.get(execution_id=execution, step_path="two.main").state == "CANCELLED"
    ends_well(queue, execution)


def test_a_step_that_writes_variables_meanwhile_leaves_none(queue: World, rivals: Rivals) -> None:
    execution = start(publish(CHAIN))
    held = holding(execution, "note.main")
    with transaction.atomic():
        roll_back(execution, step_path="one.main", actor=ACTOR)
        end = rivals.begin(recorded, held)
        wait_until_blocked(my_session())
    with pytest.raises(LeaseLost):
        end.result(60)
    assert WorkflowExecution.objects.get(pk=execution).context_data == {"stage": "new"}
    ends_well(queue, execution)
    assert WorkflowExecution.objects.get(pk=execution).context_data == {"stage": "noted"}


def test_a_roll_back_waits_for_a_step_that_is_being_recorded(queue: World, rivals: Rivals) -> None:
    execution = start(publish(CHAIN))
    held = holding(execution, "note.main")
    with transaction.atomic():
        work = recorded(held)
        back = rivals.begin(roll_back, execution, step_path="one.main", actor=ACTOR)
        wait_until_blocked(my_session())
    assert back.result(60).context_data == {"stage": "new"}
    if work is not None:
        with pytest.raises(LeaseLost):
            recorded((held[0], work))
    note = Run.objects.filter(execution_id=execution, step_path="note.main").order_by("queued_at")
    assert [(run.state, run.superseded) for run in note] == [("SUCCESS", True), ("PENDING", False)]
    ends_well(queue, execution)


def test_a_claim_does_not_slip_past_a_roll_back(queue: World, rivals: Rivals) -> None:
    execution = start(publish(FAILING | {"tasks": [*FAILING["tasks"], effect("beside")]}))
    recorded(claimed(execution, "one.main"))
    stale = seen(execution, "beside.main")
    with transaction.atomic():
        roll_back(execution, step_path="one.main", actor=ACTOR)
        claim = rivals.begin(claim_run.claim, *stale)
        wait_until_blocked(my_session())
    assert claim.result(60) is None
    beside = Run.objects.filter(execution_id=execution, step_path="beside.main")
    assert beside.get(superseded=True).state == "CANCELLED"
    assert beside.get(superseded=False).state == "PENDING"


def test_two_roll_backs_go_one_after_the_other(queue: World, rivals: Rivals) -> None:
    execution = start(publish(CHAIN))
    holding(execution, "three.main")
    with transaction.atomic():
        roll_back(execution, step_path="two.main", actor=ACTOR)
        other = rivals.begin(roll_back, execution, step_path="one.main", actor=ACTOR)
        wait_until_blocked(my_session())
    assert other.result(60).epoch == 2
    ends_well(queue, execution)


def test_the_second_is_told_when_its_point_is_gone(queue: World, rivals: Rivals) -> None:
    execution = start(publish(CHAIN))
    holding(execution, "three.main")
    with transaction.atomic():
        roll_back(execution, step_path="one.main", actor=ACTOR)
        other = rivals.begin(roll_back, execution, step_path="two.main", actor=ACTOR)
        wait_until_blocked(my_session())
    with pytest.raises(NoSuchPoint):
        other.result(60)
    assert WorkflowExecution.objects.get(pk=execution).epoch == 1
    ends_well(queue, execution)


def test_of_a_cancel_and_a_roll_back_the_cancel_stands(queue: World, rivals: Rivals) -> None:
    execution = start(publish(CHAIN))
    holding(execution, "two.main")
    with transaction.atomic():
        lifecycle.cancel(execution, actor=ACTOR)
        back = rivals.begin(roll_back, execution, step_path="one.main", actor=ACTOR)
        wait_until_blocked(my_session())
    with pytest.raises(WrongState, match="CANCELLED"):
        back.result(60)
    assert WorkflowExecution.objects.get(pk=execution).epoch == 0


def test_a_cancel_after_a_roll_back_leaves_nothing_live(queue: World, rivals: Rivals) -> None:
    execution = start(publish(CHAIN))
    holding(execution, "two.main")
    with transaction.atomic():
        roll_back(execution, step_path="one.main", actor=ACTOR)
        cancel = rivals.begin(lifecycle.cancel, execution, actor=ACTOR)
        wait_until_blocked(my_session())
    assert cancel.result(60).state == "CANCELLED"
    assert not Run.objects.filter(execution_id=execution, finished_at=None).exists()
    queue.drain()
    assert states([execution])[execution] == "CANCELLED"


def test_of_a_requeue_and_a_roll_back_the_dead_letter_is_resolved_once(
    queue: World, rivals: Rivals
) -> None:
    execution = failed()
    letter = DeadLetterEntry.objects.get(execution_id=execution)
    with transaction.atomic():
        roll_back(execution, step_path="one.main", actor=ACTOR)
        again = rivals.begin(requeue, letter.pk, actor=ACTOR)
        wait_until_blocked(my_session())
    with pytest.raises(WrongState):
        again.result(60)
    letter.refresh_from_db()
    assert letter.resolution == "DISCARDED"
    ends_well(queue, execution)


def test_a_roll_back_after_a_requeue_takes_its_run_along(queue: World, rivals: Rivals) -> None:
    execution = failed()
    letter = DeadLetterEntry.objects.get(execution_id=execution)
    with transaction.atomic():
        requeue(letter.pk, actor=ACTOR)
        back = rivals.begin(roll_back, execution, step_path="one.main", actor=ACTOR)
        wait_until_blocked(my_session())
    assert back.result(60).epoch == 1
    runs = Run.objects.filter(execution_id=execution, step_path="bad.main").order_by("queued_at")
    assert [(run.state, run.superseded) for run in runs] == [
        ("DLQ", True),
        ("CANCELLED", True),
        ("PENDING", False),
    ]
    ends_well(queue, execution)


def test_a_fork_of_what_is_being_rolled_back_is_told(queue: World, rivals: Rivals) -> None:
    execution = failed()
    with transaction.atomic():
        roll_back(execution, step_path="one.main", actor=ACTOR)
        other = rivals.begin(fork, execution, step_path="bad.main", actor=ACTOR)
        wait_until_blocked(my_session())
    with pytest.raises(WrongState, match="rolled back"):
        other.result(60)
    assert WorkflowExecution.objects.filter(origin_id=execution).count() == 0
    ends_well(queue, execution)
