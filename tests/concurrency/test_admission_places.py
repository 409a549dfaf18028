"""Slots of a limited workspace: sleeping executions release theirs, and need one again when they
wake up.
"""

from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions import lifecycle
from executions.admission.capacity import active, admit, release_slot, request_slot
from executions.database import statements
from executions.errors import QuotaExceeded
from executions.models import Tier, WorkflowExecution, Workspace
from runners.models import Run
from runners.planning import plan_execution
from runners.recovery.sweeper import admission
from runners.recovery.sweeper import admission as duty
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.segments import claimed, recorded, run_of
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, effect, limited_workspace, publish, start, states

ONE = {"tasks": [effect("one")]}


def fall_asleep(*ids: UUID) -> None:
    """Let all live runs wait for a timer; the executions release their slots."""
    with transaction.atomic():
        for pk in sorted(ids):
            plan_execution.locked(pk)
        Run.objects.filter(execution_id__in=ids, state="PENDING").update(
            state="WAITING", waits_for="timer"
        )
        release_slot(*ids)


def wake_up(*ids: UUID) -> None:
    """Let the timers of these executions be due."""
    with transaction.atomic():
        request_slot(ids)
        Run.objects.filter(execution_id__in=ids, state="WAITING").update(state="PENDING")


def place(execution: UUID) -> str:
    return WorkflowExecution.objects.get(pk=execution).place


def test_a_sleeper_gives_its_place_to_the_one_that_waits(queue: World) -> None:
    workflow = publish(ONE, limited_workspace(1))
    sleeper, other = start(workflow), start(workflow)
    assert states([other])[other] == "PENDING"
    fall_asleep(sleeper)
    assert states([sleeper, other]) == {sleeper: "RUNNING", other: "RUNNING"}
    assert (place(sleeper), place(other)) == ("FREE", "HELD")


def test_who_wakes_while_no_place_is_free_waits_for_one_and_then_goes_on(queue: World) -> None:
    workspace = limited_workspace(1)
    workflow = publish(ONE, workspace)
    sleeper = start(workflow)
    fall_asleep(sleeper)
    other = start(workflow)
    wake_up(sleeper)
    assert place(sleeper) == "WANTED"
    queue.queue = [message for message in queue.queue if message.execution == other]
    queue.drain()
    assert states([sleeper, other]) == {sleeper: "SUCCESS", other: "SUCCESS"}
    assert active(workspace.pk) == 0


def test_nothing_of_a_woken_execution_is_claimed_before_it_has_a_place(queue: World) -> None:
    workflow = publish(ONE, limited_workspace(1))
    sleeper = start(workflow)
    fall_asleep(sleeper)
    other = start(workflow)
    wake_up(sleeper)
    queue.queue = [message for message in queue.queue if message.execution == sleeper]
    queue.drain()
    assert states([sleeper, other]) == {sleeper: "RUNNING", other: "RUNNING"}
    assert not Run.objects.filter(execution_id=sleeper, state="SUCCESS").exists()


def test_who_wakes_while_a_place_is_free_has_it_at_once(queue: World) -> None:
    workflow = publish(ONE, limited_workspace(2))
    sleeper = start(workflow)
    fall_asleep(sleeper)
    wake_up(sleeper)
    assert place(sleeper) == "HELD"


def test_who_woke_comes_before_who_never_ran_but_not_before_a_higher_priority(
    queue: World,
) -> None:
    workflow = publish(ONE, limited_workspace(1))
    sleeper = start(workflow)
    fall_asleep(sleeper)
    holder = start(workflow)
    urgent, equal = start(workflow, priority=9), start(workflow)
    wake_up(sleeper)
    lifecycle.cancel(holder, actor=ACTOR)
    assert states([urgent])[urgent] == "RUNNING"
    assert place(sleeper) == "WANTED"
    lifecycle.cancel(urgent, actor=ACTOR)
    assert place(sleeper) == "HELD"
    assert states([equal])[equal] == "PENDING"


def test_a_sleeper_of_an_unlimited_workspace_has_its_place_as_it_wakes(queue: World) -> None:
    execution = start(publish(ONE))
    fall_asleep(execution)
    assert place(execution) == "FREE"
    wake_up(execution)
    assert place(execution) == "HELD"
    queue.drain()
    assert states([execution])[execution] == "SUCCESS"


def test_a_workspace_whose_limit_is_lifted_wakes_its_sleepers_at_once(queue: World) -> None:
    workspace = limited_workspace(1)
    workflow = publish(ONE, workspace)
    sleeper = start(workflow)
    fall_asleep(sleeper)
    start(workflow)
    Tier.objects.filter(workspaces=workspace).update(max_concurrent=None)
    wake_up(sleeper)
    assert place(sleeper) == "HELD"


def test_a_child_asleep_is_not_counted_and_wakes_without_a_place(queue: World) -> None:
    workspace = limited_workspace(1)
    workflow = publish(ONE, workspace)
    parent, child = start(workflow), start(workflow)
    WorkflowExecution.objects.filter(pk=child).update(parent=parent)
    admit(workspace.pk)
    WorkflowExecution.objects.filter(pk=child).update(
        state="RUNNING", started_at="2026-01-01T00:00Z"
    )
    fall_asleep(child)
    assert place(child) == "FREE"
    assert active(workspace.pk) == 1
    wake_up(child)
    assert place(child) == "HELD"
    assert active(workspace.pk) == 1


def test_a_requeued_step_of_a_sleeper_wakes_it(queue: World) -> None:
    tasks = [effect("one"), effect("two", failTimes=1, errorType="PERMANENT")]
    sleeper = start(publish({"tasks": tasks}, limited_workspace(1)))
    recorded(claimed(sleeper, "two.main"))
    fall_asleep(sleeper)
    requeue(DeadLetterEntry.objects.get(execution_id=sleeper).pk, actor=ACTOR)
    assert place(sleeper) == "HELD"
    queue.drain()
    assert run_of(sleeper, "two.main").state == "SUCCESS"


def test_a_requeued_child_needs_no_place(queue: World) -> None:
    workspace = limited_workspace(1)
    child = start(
        publish({"tasks": [effect("one", failTimes=1, errorType="PERMANENT")]}, workspace)
    )
    queue.drain()
    parent = start(publish(ONE, workspace))
    WorkflowExecution.objects.filter(pk=child).update(parent=parent)
    requeue(DeadLetterEntry.objects.get(execution_id=child).pk, actor=ACTOR)
    assert states([parent, child]) == {parent: "RUNNING", child: "RUNNING"}


def test_a_sleeper_that_is_cancelled_frees_no_place_twice(queue: World) -> None:
    workspace = limited_workspace(1)
    workflow = publish(ONE, workspace)
    sleeper = start(workflow)
    fall_asleep(sleeper)
    holder, waiting = start(workflow), start(workflow)
    lifecycle.cancel(sleeper, actor=ACTOR)
    assert states([holder, waiting]) == {holder: "RUNNING", waiting: "PENDING"}
    assert active(workspace.pk) == 1


def test_the_duty_finds_a_woken_one_whose_waker_died(queue: World) -> None:
    workspace = limited_workspace(1)
    workflow = publish(ONE, workspace)
    sleeper = start(workflow)
    fall_asleep(sleeper)
    WorkflowExecution.objects.filter(pk=sleeper).update(place="WANTED")
    Run.objects.filter(execution_id=sleeper).update(state="PENDING")
    assert duty.waiting_executions() == 1
    assert place(sleeper) == "HELD"
    queue.drain()
    assert states([sleeper])[sleeper] == "SUCCESS"


def test_the_duty_reaches_every_workspace_though_many_are_full(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(duty, "WORKSPACES", 1)
    full = [limited_workspace(1) for _ in range(3)]
    for workspace in full:
        workflow = publish(ONE, workspace)
        start(workflow)
        start(workflow)
    last = limited_workspace(1)
    workflow = publish(ONE, last)
    first, second = start(workflow), start(workflow)
    WorkflowExecution.objects.filter(pk=first).update(
        state="CANCELLED", finished_at="2026-01-01T00:00Z"
    )
    assert duty.waiting_executions() == 1
    assert states([second])[second] == "RUNNING"


def test_a_paused_sleeper_that_wakes_goes_on_when_it_is_resumed(queue: World) -> None:
    workflow = publish(ONE, limited_workspace(1))
    sleeper = start(workflow)
    fall_asleep(sleeper)
    lifecycle.pause(sleeper, actor=ACTOR)
    wake_up(sleeper)
    assert place(sleeper) == "HELD"
    queue.drain()
    assert not Run.objects.filter(execution_id=sleeper, state="SUCCESS").exists()
    lifecycle.resume(sleeper, actor=ACTOR)
    queue.drain()
    assert states([sleeper])[sleeper] == "SUCCESS"


def test_sleepers_that_wake_all_at_once_never_exceed_the_limit(
    queue: World, rivals: Rivals
) -> None:
    workspace = limited_workspace(3)
    workflow = publish(ONE, workspace)
    sleepers: list[UUID] = []
    for _ in range(8):
        sleepers += [start(workflow) for _ in range(3)]
        fall_asleep(*sleepers[-3:])
    together = Barrier(8)

    def wake(mine: list[UUID]) -> None:
        connection.ensure_connection()
        together.wait(60)
        wake_up(*mine)
        start(workflow)

    for waking in [rivals.begin(wake, sleepers[i::8]) for i in range(8)]:
        waking.result(60)
    assert active(workspace.pk) == 3
    while queue.queue or queue.workers:
        queue.turn()
        assert active(workspace.pk) <= 3
    ends = WorkflowExecution.objects.filter(workspace=workspace).values_list("state", flat=True)
    assert set(ends) == {"SUCCESS"}


def test_two_that_wake_the_same_sleepers_do_not_wait_in_a_circle(
    queue: World, rivals: Rivals
) -> None:
    workflow = publish(ONE, limited_workspace(2))
    first, second = start(workflow), start(workflow)
    fall_asleep(first, second)
    with transaction.atomic():
        request_slot([second, first])
        other = rivals.begin(wake_up, first, second)
        wait_until_blocked(my_session())
    other.result(60)
    assert (place(first), place(second)) == ("HELD", "HELD")


def many(first: UUID) -> list[UUID]:
    """Create ten thousand executions like this one; return their ids, including its own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO executions_workflowexecution (id, workspace_id, workflow_id, version_id, "
            "state, epoch, depth, trigger_type, context_data, priority, created_at, started_at, "
            "origin_point, request_hash, error_message, error_stack_trace, trace_id) "
            "SELECT gen_random_uuid(), workspace_id, workflow_id, version_id, state, 0, 0, "
            "trigger_type, context_data, priority, created_at, started_at, '', '', '', '', '' "
            "FROM executions_workflowexecution, generate_series(2, 10000) WHERE id = %s "
            "RETURNING id",
            [first],
        )
        return [first, *(pk for (pk,) in cursor.fetchall())]


def whole_scans() -> int:
    """Return how often this session read the whole table of executions.

    Compare two values within one transaction: between transactions the server may reset the
    counter.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq_scan FROM pg_stat_xact_user_tables "
            "WHERE relname = 'executions_workflowexecution'"
        )
        (count,) = cursor.fetchone()
    return int(count)


@pytest.mark.parametrize("statistics", ["as they are", "of an empty table"])
def test_ten_thousand_fall_asleep_and_wake_in_a_few_statements(
    statistics: str, queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = limited_workspace(10_000)
    first = start(publish(ONE, workspace))
    if statistics == "of an empty table":
        WorkflowExecution.objects.filter(pk__in=set(many(first)) - {first}).delete()
        with connection.cursor() as cursor:
            cursor.execute("VACUUM (ANALYZE, TRUNCATE OFF) executions_workflowexecution")
    ids = many(first)
    found = WorkflowExecution.objects.filter(workspace=workspace)
    asked: list[str] = []
    fetch = statements.fetch_together

    def noted(named: Any) -> Any:
        asked.extend(name for name, _ in named)
        return fetch(named)

    monkeypatch.setattr(statements, "fetch_together", noted)
    with transaction.atomic():
        release_slot(*ids)
        assert asked == ["release_slot"]
    assert active(workspace.pk) == 0
    with transaction.atomic():
        before = whole_scans()
        with CaptureQueriesContext(connection) as others:
            request_slot(ids)
        assert asked == ["release_slot", "lock_waking_executions", "request_slot"]
        assert len(others) == 0
        assert whole_scans() - before <= 1, "once for all of them, whatever else is in the table"
    assert found.filter(place="HELD").count() == 100, "the rest follows batch by batch"
    assert duty.waiting_executions() == 2_000
    found.update(state="CANCELLED", finished_at="2026-01-01T00:00Z")


def test_a_tier_that_lets_few_wait_refuses_the_next(queue: World) -> None:
    workspace: Workspace = limited_workspace(1, waiting=2)
    workflow = publish(ONE, workspace)
    for _ in range(3):
        start(workflow)
    with pytest.raises(QuotaExceeded, match="2 executions already wait"):
        start(workflow)


def test_who_wakes_while_its_execution_falls_asleep_is_not_forgotten(
    queue: World, rivals: Rivals
) -> None:
    sleeper = start(publish(ONE, limited_workspace(1)))
    Run.objects.filter(execution_id=sleeper).update(state="WAITING", waits_for="timer")
    with transaction.atomic():
        plan_execution.locked(sleeper)
        waking = rivals.begin(wake_up, sleeper)
        wait_until_blocked(my_session())
        release_slot(sleeper)
    waking.result(60)
    assert place(sleeper) == "HELD"


def test_a_sleeper_whose_step_waits_for_a_worker_is_found(queue: World) -> None:
    sleeper = start(publish(ONE, limited_workspace(1)))
    fall_asleep(sleeper)
    Run.objects.filter(execution_id=sleeper).update(state="PENDING", due_at="2026-01-01T00:00Z")
    assert admission.workspace_places() > 0
    assert place(sleeper) == "HELD"
    queue.drain()
    assert states([sleeper])[sleeper] == "SUCCESS"


def test_an_execution_whose_last_step_awake_ended_beside_a_sleeping_one_gives_its_place_up(
    queue: World,
) -> None:
    workflow = publish({"tasks": [effect("one"), effect("two")]}, limited_workspace(1))
    sleeper, other = start(workflow), start(workflow)
    Run.objects.filter(execution_id=sleeper, step_path="one.main").update(
        state="WAITING", waits_for="approval"
    )
    admission.workspace_places()
    assert place(sleeper) == "HELD", "two is awake"
    recorded(claimed(sleeper, "two.main"))
    assert admission.workspace_places() > 0
    assert (place(sleeper), states([other])[other]) == ("FREE", "RUNNING")
    assert admission.workspace_places() == 0, "nobody is found twice"


@pytest.mark.parametrize("waits_for", ["child", "body"])
def test_who_waits_for_a_child_or_a_body_alone_keeps_its_place(
    queue: World, waits_for: str
) -> None:
    execution = start(publish(ONE, limited_workspace(1)))
    Run.objects.filter(execution_id=execution).update(state="WAITING", waits_for=waits_for)
    admission.workspace_places()
    assert place(execution) == "HELD"
