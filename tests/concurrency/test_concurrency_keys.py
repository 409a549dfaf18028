"""Concurrency keys: the limit is never exceeded, and every execution gets its turn."""

import re
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from psycopg.sql import SQL, Literal

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions import lifecycle
from executions.admission import concurrency
from executions.admission.capacity import active, release_slot
from executions.database import statements
from executions.database.ids import uuid7
from executions.errors import ConcurrencyConflict, InvalidPayload, WrongState
from executions.models import Activity, Tier, Trigger, WorkflowExecution, Workspace
from executions.triggers.event import publish_event
from executions.triggers.start import start_batch
from runners.models import Run
from runners.planning import plan_execution
from runners.recovery.sweeper import admission as duty
from tests.support.auditor import audit
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.single_thread import World
from tests.support.waiting import wait_until
from tests.support.workflows import (
    ACTOR,
    default_workspace,
    effect,
    limited_workspace,
    publish,
    start,
    start_many,
    states,
)

A, B = {"customer": "a"}, {"customer": "b"}
PLENTY = 10_000


def keyed(
    on_conflict: str = "queue", *, limit: int = 1, workspace: Workspace | None = None, **more: Any
) -> Any:
    """Publish a workflow of one step, whose key is the customer."""
    rule = {"key": "{{ input.customer }}", "limit": limit, "onConflict": on_conflict}
    tasks = [effect("one", **more)]
    return publish({"settings": {"concurrency": rule}, "tasks": tasks}, workspace)


def under_way(workflow: Any, customer: str) -> int:
    return WorkflowExecution.objects.filter(
        workflow=workflow, concurrency_key=customer, state__in=["RUNNING", "PAUSED"]
    ).count()


def test_the_second_with_a_key_waits_until_the_first_has_ended(queue: World) -> None:
    workflow = keyed()
    first, second, other = start(workflow, A), start(workflow, A), start(workflow, B)
    assert states([first, second, other]) == {
        first: "RUNNING",
        second: "PENDING",
        other: "RUNNING",
    }
    queue.drain()
    assert set(states([first, second, other]).values()) == {"SUCCESS"}
    audit([first, second, other])


def test_a_key_counts_in_its_own_workflow_only(queue: World) -> None:
    here, there = start(keyed(), A), start(keyed(), A)
    assert states([here, there]) == {here: "RUNNING", there: "RUNNING"}


@pytest.mark.parametrize("customer", [None, ""])
def test_without_a_key_no_rule_applies(queue: World, customer: Any) -> None:
    workflow = keyed("reject")
    ids = [start(workflow, {"customer": customer}) for _ in range(3)]
    assert set(states(ids).values()) == {"RUNNING"}


@pytest.mark.parametrize("customer", [7, True, ["a", 1], {"b": 1, "a": 2}, "x" * 5_000])
def test_any_value_can_be_a_key(queue: World, customer: Any) -> None:
    workflow = keyed()
    first, second = start(workflow, {"customer": customer}), start(workflow, {"customer": customer})
    assert states([first, second]) == {first: "RUNNING", second: "PENDING"}


def test_a_payload_from_which_no_key_can_be_made_is_refused_and_named(queue: World) -> None:
    workflow = keyed()
    with pytest.raises(InvalidPayload) as refused:
        start_batch(workflow, [A, {}, B, {}], actor=ACTOR)
    assert [p.path for p in refused.value.problems] == ["payloads[1]", "payloads[3]"]
    assert "customer" in refused.value.problems[0].message
    assert not WorkflowExecution.objects.filter(workflow=workflow).exists()


def test_the_next_of_a_key_is_the_one_of_highest_priority_then_the_oldest(queue: World) -> None:
    workflow = keyed()
    holder, late, early = start(workflow, A), start(workflow, A), start(workflow, A)
    urgent = start(workflow, A, priority=9)
    for ended, following in ((holder, urgent), (urgent, late), (late, early)):
        lifecycle.cancel(ended, actor=ACTOR)
        assert states([following])[following] == "RUNNING"


def test_a_paused_and_a_sleeping_execution_keep_their_key(queue: World) -> None:
    workflow = keyed(workspace=limited_workspace(5))
    first = start(workflow, A)
    second = start(workflow, A)
    lifecycle.pause(first, actor=ACTOR)
    with transaction.atomic():
        plan_execution.locked(first)
        Run.objects.filter(execution_id=first).update(state="WAITING", waits_for="timer")
        release_slot(first)
    duty.waiting_executions()
    assert states([second])[second] == "PENDING"


def test_more_than_one_may_hold_a_key_up_to_its_limit(queue: World) -> None:
    workflow = keyed(limit=2)
    ids = start_many(workflow, [A] * 5)
    assert sorted(states(ids).values()) == ["PENDING"] * 3 + ["RUNNING"] * 2
    while queue.queue or queue.workers:
        queue.turn()
        assert under_way(workflow, "a") <= 2
    assert set(states(ids).values()) == {"SUCCESS"}


def test_whoever_starts_waits_for_whoever_takes_the_key(queue: World, rivals: Rivals) -> None:
    workflow = keyed()
    with transaction.atomic():
        first = start(workflow, A)
        other = rivals.begin(start, workflow, A)
        wait_until_blocked(my_session())
    second = other.result(60)
    assert states([first, second]) == {first: "RUNNING", second: "PENDING"}


def test_other_keys_do_not_wait_for_one_that_is_being_taken(queue: World, rivals: Rivals) -> None:
    workflow = keyed()
    with transaction.atomic():
        start(workflow, A)
        rivals.begin(start, workflow, B).result(60)


@pytest.mark.parametrize("places", [None, 4], ids=["unlimited", "limited"])
def test_a_key_is_never_held_by_more_than_its_limit_however_many_start_at_once(
    queue: World, rivals: Rivals, places: int | None
) -> None:
    workspace = limited_workspace(places) if places else None
    workflow = keyed(limit=2, workspace=workspace)
    together = Barrier(8)

    def ask(number: int) -> list[UUID]:
        connection.ensure_connection()
        together.wait(60)
        mine = [A, B] if number % 2 else [B, A]
        return [*start_many(workflow, mine), start(workflow, A)]

    asking = [rivals.begin(ask, number) for number in range(8)]
    ids = [pk for asker in asking for pk in asker.result(60)]
    assert (under_way(workflow, "a"), under_way(workflow, "b")) == (2, 2)
    while queue.queue or queue.workers:
        queue.turn()
        assert under_way(workflow, "a") <= 2
        assert under_way(workflow, "b") <= 2
        assert places is None or active(workspace.pk) <= places
    assert set(states(ids).values()) == {"SUCCESS"}
    audit(ids)


def test_executions_that_end_at_once_let_exactly_as_many_in(queue: World, rivals: Rivals) -> None:
    workflow = keyed(limit=4)
    ids = start_many(workflow, [A] * 12)
    running = [pk for pk, state in states(ids).items() if state == "RUNNING"]
    together = Barrier(4)

    def end(execution: UUID) -> None:
        connection.ensure_connection()
        together.wait(60)
        lifecycle.cancel(execution, actor=ACTOR)

    for ending in [rivals.begin(end, pk) for pk in running]:
        ending.result(60)
    assert under_way(workflow, "a") == 4
    assert sorted(states(ids).values()).count("PENDING") == 4


def test_a_key_whose_holder_ended_unheard_is_found_by_the_duty(queue: World) -> None:
    workflow = keyed()
    first, second = start(workflow, A), start(workflow, A)
    WorkflowExecution.objects.filter(pk=first).update(
        state="CANCELLED", finished_at="2026-01-01T00:00Z"
    )
    assert duty.waiting_executions() == 1
    assert states([second])[second] == "RUNNING"


def test_a_requeued_execution_waits_while_another_holds_its_key(queue: World) -> None:
    workflow = keyed(failTimes=1, errorType="PERMANENT")
    first = start(workflow, A)
    queue.drain()
    assert states([first])[first] == "FAILED"
    second = start(workflow, A)
    requeue(DeadLetterEntry.objects.get(execution_id=first).pk, actor=ACTOR)
    assert states([first, second]) == {first: "PENDING", second: "RUNNING"}
    lifecycle.cancel(second, actor=ACTOR)
    queue.drain()
    assert states([first])[first] == "SUCCESS"


# reject


def test_one_too_many_is_refused_with_the_holders_id(queue: World) -> None:
    workflow = keyed("reject")
    first = start(workflow, A)
    with pytest.raises(ConcurrencyConflict, match=str(first)) as refused:
        start(workflow, A)
    assert refused.value.holder_id == first
    lifecycle.cancel(first, actor=ACTOR)
    assert states([start(workflow, A)])


def test_one_that_waits_for_a_place_takes_its_key_from_others_that_would_be_refused(
    queue: World,
) -> None:
    workspace = limited_workspace(1)
    workflow = keyed("reject", workspace=workspace)
    start(workflow, A)
    waiting = start(workflow, B)
    assert states([waiting])[waiting] == "PENDING"
    with pytest.raises(ConcurrencyConflict, match=str(waiting)):
        start(workflow, B)


def test_a_batch_with_a_key_twice_is_refused_whole(queue: World) -> None:
    workflow = keyed("reject")
    with pytest.raises(ConcurrencyConflict, match="one after another"):
        start_batch(workflow, [A, B, A], actor=ACTOR)
    assert not WorkflowExecution.objects.filter(workflow=workflow).exists()


# cancelPrevious


def test_the_newest_takes_the_place_of_the_one_before(queue: World) -> None:
    workflow = keyed("cancelPrevious")
    ids = [start(workflow, A) for _ in range(4)]
    assert [states(ids)[pk] for pk in ids] == ["CANCELLED"] * 3 + ["RUNNING"]
    noted = Activity.objects.get(object_id=ids[0], action="execution.cancel")
    assert (noted.actor_name, noted.actor) == ("concurrency", None)
    queue.drain()
    assert states(ids)[ids[-1]] == "SUCCESS"
    audit(ids)


def test_of_a_limit_of_two_only_the_oldest_is_cancelled(queue: World) -> None:
    workflow = keyed("cancelPrevious", limit=2)
    ids = [start(workflow, A) for _ in range(3)]
    assert [states(ids)[pk] for pk in ids] == ["CANCELLED", "RUNNING", "RUNNING"]


def test_the_newest_of_a_batch_takes_the_place_of_the_others(queue: World) -> None:
    workflow = keyed("cancelPrevious")
    before = start(workflow, A)
    ids = start_many(workflow, [A, B, A])
    assert states([before])[before] == "CANCELLED"
    assert [states(ids)[pk] for pk in ids] == ["CANCELLED", "RUNNING", "RUNNING"]


def test_in_a_full_workspace_the_newest_gets_the_place_of_the_one_before(queue: World) -> None:
    workspace = limited_workspace(1)
    workflow = keyed("cancelPrevious", workspace=workspace)
    first, second = start(workflow, A), start(workflow, A)
    assert states([first, second]) == {first: "CANCELLED", second: "RUNNING"}
    assert active(workspace.pk) == 1


def test_of_those_that_replace_each_other_at_once_one_is_left(queue: World, rivals: Rivals) -> None:
    workflow = keyed("cancelPrevious")
    together = Barrier(8)

    def ask() -> list[UUID]:
        connection.ensure_connection()
        together.wait(60)
        return [start(workflow, A) for _ in range(3)]

    ids = [pk for asker in [rivals.begin(ask) for _ in range(8)] for pk in asker.result(60)]
    found = sorted(states(ids).values())
    assert found == ["CANCELLED"] * 23 + ["RUNNING"]
    queue.drain()
    assert under_way(workflow, "a") == 0


def test_one_that_ends_while_it_is_replaced_stays_as_it_ended(queue: World, rivals: Rivals) -> None:
    workflow = keyed("cancelPrevious")
    first = start(workflow, A)
    with transaction.atomic():
        lifecycle.cancel(first, actor=ACTOR, reason="by hand")
        other = rivals.begin(start, workflow, A)
        wait_until_blocked(my_session())
    second = other.result(60)
    assert states([first, second]) == {first: "CANCELLED", second: "RUNNING"}
    with pytest.raises(WrongState):
        lifecycle.cancel(first, actor=ACTOR)


# Ten thousand wait for one key


@pytest.fixture
def crowd(queue: World) -> Any:
    """Create a limited workspace in which ten thousand executions wait for one key."""
    workspace = limited_workspace(2)
    workflow = keyed(workspace=workspace)
    holder, waiting = start(workflow, A), start(workflow, A)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO executions_workflowexecution (id, workspace_id, workflow_id, version_id, "
            "state, epoch, depth, trigger_type, context_data, priority, created_at, "
            "concurrency_key, concurrency_limit, "
            "origin_point, request_hash, error_message, error_stack_trace, trace_id) "
            "SELECT gen_random_uuid(), workspace_id, workflow_id, version_id, state, 0, 0, "
            "trigger_type, context_data, priority, created_at, concurrency_key, "
            "concurrency_limit, '', '', '', '', '' "
            "FROM executions_workflowexecution, generate_series(1, %s) WHERE id = %s",
            [PLENTY, waiting],
        )
        cursor.execute("ANALYZE executions_workflowexecution")
    yield workspace, workflow, holder
    WorkflowExecution.objects.filter(workspace=workspace, state="PENDING").update(
        state="CANCELLED", finished_at="2026-01-01T00:00Z"
    )


def test_ten_thousand_behind_one_key_block_nobody(crowd: Any, queue: World) -> None:
    workspace, workflow, _ = crowd
    other, third = start(workflow, B), start(workflow, {"customer": "c"})
    assert states([other, third]) == {other: "RUNNING", third: "PENDING"}
    lifecycle.cancel(other, actor=ACTOR)
    assert states([third])[third] == "RUNNING"
    assert active(workspace.pk) == 2


def test_choosing_who_is_next_reads_a_handful_of_rows_of_ten_thousand(crowd: Any) -> None:
    workspace, workflow, _ = crowd
    plan = _explain("candidates", {"workspace": workspace.pk, "places": 100})
    assert _rows_read(plan) < 50, plan
    assert "Seq Scan" not in str(plan)
    plan = _explain(
        "candidates_for_key",
        {"workspace": workspace.pk, "places": 100, "workflow": workflow.pk, "key": "a"},
    )
    assert _rows_read(plan) < 50, plan
    plan = _explain("count_key_use", {"workflows": [workflow.pk], "keys": ["a"], "most": 1})
    assert _rows_read(plan) < 50, plan


def test_the_limit_lifted_the_crowd_still_passes_one_by_one(crowd: Any, queue: World) -> None:
    workspace, workflow, holder = crowd
    Tier.objects.filter(workspaces=workspace).update(max_concurrent=None)
    lifecycle.cancel(holder, actor=ACTOR)
    assert under_way(workflow, "a") == 1
    assert duty.waiting_executions() == 0


def _explain(name: str, params: dict[str, Any]) -> Any:
    """Execute the statement with its generic plan, which PostgreSQL uses from the sixth execution
    on; return the plan with its measured rows.

    The changes are rolled back.
    """
    names = list(params)
    text = re.sub(r"%\((\w+)\)s", lambda m: f"${names.index(m[1]) + 1}", statements.statement(name))
    values = SQL(", ").join(Literal(value) for value in params.values())
    with connection.cursor() as cursor:
        raw = cursor.cursor.connection
    with raw.transaction(force_rollback=True):
        raw.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        raw.execute(f"PREPARE looked_at AS {text}")
        try:
            asked = SQL("EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE looked_at({})").format(values)
            return raw.execute(asked).fetchone()[0][0]["Plan"]
        finally:
            raw.execute("DEALLOCATE looked_at")


def _rows_read(plan: dict[str, Any]) -> float:
    """Return the number of rows that scans of tables and indexes returned, including filtered
    ones.
    """
    own = 0.0
    if plan.get("Relation Name") or plan.get("Index Name"):
        each = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
        own = each * plan["Actual Loops"]
    return own + sum(_rows_read(part) for part in plan.get("Plans", []))


def _wait_for_keys() -> int:
    """Return how many sessions wait for a key."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' "
            "AND datname = current_database()"
        )
        return int(cursor.fetchone()[0])


def test_events_whose_workflows_share_keys_in_opposite_orders_do_not_deadlock(
    queue: World, rivals: Rivals
) -> None:
    def listening(*names: str) -> Any:
        return publish(
            {
                "settings": {"concurrency": {"key": "{{ input.customer }}"}},
                "triggers": [{"type": "EVENT", "event": name} for name in names],
                "tasks": [effect("one")],
            }
        )

    one, middle, two = (listening("key.here", "key.there") for _ in range(3))
    # For one event the order is one, middle, two; for the other it is two, middle, one.
    for workflow in (one, middle, two)[::-1]:
        Trigger.objects.filter(workflow=workflow, settings__event="key.there").update(id=uuid7())
    with transaction.atomic():
        concurrency.lock([concurrency.ConcurrencyKey(middle.pk, "a")])
        told = [
            rivals.begin(publish_event, default_workspace(), name, A, actor=ACTOR)
            for name in ("key.here", "key.there")
        ]
        # Both have begun to take keys, and neither can have all of them.
        wait_until(lambda: _wait_for_keys() == 2, what="both events waiting for keys")
    receipts = [future.result(60) for future in told]

    assert [len(receipt.event.started) for receipt in receipts] == [3, 3]
    assert all("executionId" in each for receipt in receipts for each in receipt.event.started)
    for workflow in (one, middle, two):
        assert under_way(workflow, "a") == 1
    queue.drain()
    ended = WorkflowExecution.objects.filter(workflow__in=[one, middle, two], state="SUCCESS")
    assert ended.count() == 6
