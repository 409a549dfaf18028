"""Starts within open transactions block no other start, and exceed no limit."""

from threading import Barrier
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.db.models import F

from executions import lifecycle
from executions.admission import joined
from executions.database.clock import database_now
from executions.errors import Deadlocked, QuotaExceeded
from executions.explain.execution import reason_of
from executions.models import QuotaUse, Workflow, WorkflowExecution
from executions.public.starting import start_from_code
from executions.quotas.counting import LENGTHS
from executions.states import QuotaWindow
from executions.triggers.from_code import OtherTransaction
from tests.support.rivals import Rivals
from tests.support.single_thread import World
from tests.support.start_limits import used, workspace_of
from tests.support.windows import wait_for_a_long_hour
from tests.support.workflows import ACTOR, effect, limited_workspace, publish, start

ONE = {"tasks": [effect("one")]}
KEYED = ONE | {"settings": {"concurrency": {"key": "{{ input.customer }}"}}}


@pytest.fixture(autouse=True)
def _no_window_ends_meanwhile(engine: None) -> None:
    wait_for_a_long_hour(30)


def found(workflow: Workflow) -> dict[str, int]:
    """Return how many executions run, are queued, and have not been counted yet."""
    rows = WorkflowExecution.objects.filter(workflow=workflow)
    waiting = rows.filter(state="PENDING")
    return {
        "running": rows.filter(state="RUNNING").count(),
        "in line": waiting.exclude(place="ASKED").count(),
        "asked": waiting.filter(place="ASKED").count(),
    }


def together(rivals: Rivals, workflow: Workflow, *payloads: list[Any]) -> None:
    """Start one execution per payload, in transactions that are all open at the same time."""
    meet = Barrier(len(payloads))

    def act(wanted: list[Any]) -> None:
        with transaction.atomic():
            for payload in wanted:
                start_from_code(workflow.pk, payload)
                meet.wait(60)

    for ended in [rivals.begin(act, wanted) for wanted in payloads]:
        ended.result(40)


def test_a_counter_is_locked_by_no_open_transaction(queue: World, rivals: Rivals) -> None:
    workspace = workspace_of(max_per_hour=100, max_per_day=100)
    workflow = publish(ONE, workspace)

    with transaction.atomic():
        start_from_code(workflow.pk, None)
        other = rivals.begin(start, workflow)
        assert other.result(60), "it would wait for the lock timeout of 3 s, and fail"
        assert found(workflow) == {"running": 1, "in line": 0, "asked": 1}
        assert used(workspace) == 1

    assert found(workflow) == {"running": 2, "in line": 0, "asked": 0}
    assert (used(workspace), used(workspace, "day")) == (2, 2)


def test_what_is_rolled_back_counts_nothing(queue: World) -> None:
    workspace = workspace_of(max_per_hour=1)
    workflow = publish(ONE, workspace)

    with transaction.atomic():
        start_from_code(workflow.pk, None)
        with pytest.raises(QuotaExceeded):
            start_from_code(workflow.pk, None)
        transaction.set_rollback(True)
    start_from_code(workflow.pk, None)

    assert used(workspace) == 1


def test_a_quota_is_not_exceeded_by_transactions_that_overlap(queue: World, rivals: Rivals) -> None:
    workspace = workspace_of(max_per_hour=5)
    workflow = publish(ONE, workspace)

    together(rivals, workflow, *[[None] for _ in range(8)])

    assert found(workflow) == {"running": 5, "in line": 0, "asked": 3}
    assert used(workspace) == 5
    outside = WorkflowExecution.objects.filter(workflow=workflow, place="ASKED")[0]
    assert reason_of(outside).code == "waiting_to_be_counted"
    with pytest.raises(QuotaExceeded, match="5 executions per hour"):
        start_from_code(workflow.pk, None)
    # The next hour has room for them.
    QuotaUse.objects.update(starts_at=F("starts_at") - LENGTHS[QuotaWindow.HOUR])
    assert joined.enter(workspace.pk) == 3
    assert found(workflow) == {"running": 8, "in line": 0, "asked": 0}
    assert QuotaUse.objects.get(workspace=workspace, starts_at__gt=_an_hour_ago()).used == 3


def test_never_more_wait_than_may(queue: World, rivals: Rivals) -> None:
    workspace = limited_workspace(1, waiting=2)
    workflow = publish(ONE, workspace)

    together(rivals, workflow, *[[None] for _ in range(6)])

    assert found(workflow) == {"running": 1, "in line": 2, "asked": 3}
    with pytest.raises(QuotaExceeded, match="allows 2"):
        start_from_code(workflow.pk, None)
    running = WorkflowExecution.objects.get(workflow=workflow, state="RUNNING")
    lifecycle.cancel(running.pk, actor=ACTOR, reason="to make room")
    joined.enter(workspace.pk)
    assert found(workflow) == {"running": 1, "in line": 2, "asked": 2}


def test_keys_started_in_opposite_order_do_not_deadlock(queue: World, rivals: Rivals) -> None:
    workflow = publish(KEYED)
    ada, bob = {"customer": "ada"}, {"customer": "bob"}

    together(rivals, workflow, [ada, bob], [bob, ada])

    assert found(workflow) == {"running": 2, "in line": 2, "asked": 0}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(DISTINCT concurrency_key) FROM executions_workflowexecution "
            "WHERE workflow_id = %s AND state = 'RUNNING'",
            [workflow.pk],
        )
        assert cursor.fetchone() == (2,)


def test_idempotency_keys_started_in_opposite_order_say_what_to_do(
    queue: World, rivals: Rivals
) -> None:
    workflow = publish(ONE)
    meet = Barrier(2)

    def act(*keys: str, meets: bool = True) -> list[Any]:
        with transaction.atomic():
            first = start_from_code(workflow.pk, None, key=keys[0])
            if meets:
                meet.wait(60)
            return [first, start_from_code(workflow.pk, None, key=keys[1])]

    ended = [rivals.begin(act, *keys) for keys in (("a", "b"), ("b", "a"))]

    [told] = [error for error in (one.exception(40) for one in ended) if error is not None]
    assert isinstance(told, Deadlocked)
    assert "idempotency key" in told.message
    assert "run the whole transaction again" in told.message
    [kept] = [one.result() for one in ended if one.exception() is None]
    assert {one.id for one in act("a", "b", meets=False)} == {one.id for one in kept}
    assert WorkflowExecution.objects.filter(workflow=workflow).count() == 2


def test_a_start_in_a_transaction_of_another_database_is_refused(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    workflow = publish(ONE)
    monkeypatch.setitem(connections.settings, "shop", connections.settings["default"])
    try:
        with transaction.atomic(using="shop"):
            with pytest.raises(OtherTransaction, match=r"on the database 'shop'.*on 'default'"):
                start_from_code(workflow.pk, None)
            assert found(workflow)["running"] == 0
            start_from_code(workflow.pk, None, own_transaction=True)
            transaction.set_rollback(True, using="shop")
        assert found(workflow)["running"] == 1
        with transaction.atomic(using="shop"), transaction.atomic():
            start_from_code(workflow.pk, None)
    finally:
        connections["shop"].close()
        del connections["shop"]
    assert found(workflow)["running"] == 2


def _an_hour_ago() -> Any:
    return database_now() - LENGTHS[QuotaWindow.HOUR]
