"""Executions that fail, time out or are cancelled undo their successful steps, the newest first."""

from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction

from dlq.models import DeadLetterEntry
from dlq.resolve.fix_or_skip import fix, skip
from dlq.resolve.operations import REQUEUE
from dlq.resolve.requeue import requeue
from executions import lifecycle
from executions.database.ids import uuid7
from executions.errors import Compensated, WrongState
from executions.models import Activity, WorkflowExecution
from runners.containers import child_executions
from runners.dispatch import messages
from runners.explain.explanation import explain
from runners.models import Run
from runners.planning import compensation, plan_execution
from runners.recovery.sweeper import executions as sweeper
from tests.support.segments import claimed, lease_runs_out, recorded
from tests.support.single_thread import World
from tests.support.workflows import (
    ACTOR,
    effect,
    limited_workspace,
    publish,
    start,
    states,
    task,
)
from valkyr_plugins.timetravel.fork import fork
from valkyr_plugins.timetravel.rollback import roll_back
from valkyr_plugins.timetravel.verify import verify

DEAD = {"errorType": "PERMANENT", "failTimes": 1}


def undoable(name: str, after: Any = None, *, value: Any = None, **undo: Any) -> dict[str, Any]:
    """Return a task that returns its name, with an undo that reads it."""
    inputs = {"value": f"{{{{ tasks['{name}'].output }}}}", **undo}
    return effect(name, after, value=value or name, undo={"use": "test.effect", "with": inputs})


def undone(execution: UUID) -> list[tuple[str, Any]]:
    """Return the undo steps that succeeded, in their order, with their inputs."""
    runs = Run.objects.filter(
        execution_id=execution, step_path__contains="undo:", state="SUCCESS"
    ).order_by("finished_at")
    return [(run.step_path, (run.inputs or {}).get("value")) for run in runs]


def seen(execution: UUID) -> tuple[str, str, str]:
    """Return an execution's state, the progress of its undo, and the execution's final state."""
    row = WorkflowExecution.objects.get(pk=execution)
    return row.state, row.compensation, row.ending


def failing(queue: World, *tasks: dict[str, Any], **more: Any) -> UUID:
    execution = start(publish({"tasks": [*tasks], **more}))
    queue.drain()
    return execution


def test_a_failed_execution_undoes_what_succeeded_the_newest_first(queue: World) -> None:
    execution = failing(
        queue, undoable("a"), undoable("b", "a"), effect("c", "b"), effect("bad", "c", **DEAD)
    )

    assert seen(execution) == ("FAILED", "DONE", "FAILED")
    assert undone(execution) == [("undo:b.main", "b"), ("undo:a.main", "a")]
    assert "bad.main" in WorkflowExecution.objects.get(pk=execution).error_message


def test_without_an_undo_that_is_due_an_execution_fails_as_ever(queue: World) -> None:
    execution = failing(queue, effect("bad", **DEAD), undoable("a", "bad"))

    assert seen(execution) == ("FAILED", "", "")


def test_every_turn_and_item_that_succeeded_is_undone_with_its_own_data(queue: World) -> None:
    inner = effect(
        "pack",
        value="{{ item }}",
        errorType="PERMANENT",
        failTimes="{{ item // 3 }}",
        undo={"use": "test.effect", "with": {"value": "{{ [item, index, tasks.pack.output] }}"}},
    )
    mapped = {"items": [1, 2, 3], "maxConcurrency": 1}
    execution = failing(
        queue,
        undoable("first"),
        {"id": "each", "use": "flow.map", "with": mapped, "body": {"tasks": [inner]}}
        | {"after": "first"},
    )

    assert seen(execution) == ("FAILED", "DONE", "FAILED")
    assert undone(execution) == [
        ("each[1].undo:pack.main", [2, 1, 2]),
        ("each[0].undo:pack.main", [1, 0, 1]),
        ("undo:first.main", "first"),
    ]
    assert not Run.objects.filter(execution_id=execution, state="WAITING").exists()


def test_a_cancelled_execution_keeps_its_key_until_it_is_undone(queue: World) -> None:
    workflow = publish(
        {
            "tasks": [undoable("a"), effect("b", "a")],
            "settings": {"concurrency": {"key": "one"}},
        }
    )
    execution, other = start(workflow), start(workflow)
    held = claimed(execution, "a.main")
    recorded(held)

    lifecycle.cancel(execution, actor=ACTOR)

    assert seen(execution) == ("PAUSED", "WAITING", "CANCELLED")
    with pytest.raises(Compensated):
        lifecycle.resume(execution, actor=ACTOR)
    with pytest.raises(Compensated):
        lifecycle.cancel(execution, actor=ACTOR)
    plan_execution.advance(execution)
    assert seen(execution) == ("RUNNING", "RUNNING", "CANCELLED")
    assert states([other])[other] == "PENDING"
    queue.drain()
    assert seen(execution) == ("CANCELLED", "DONE", "CANCELLED")
    assert states([other])[other] == "SUCCESS"
    assert WorkflowExecution.objects.get(pk=execution).error_message.startswith("Cancelled by")


def test_a_step_that_runs_when_its_execution_is_cancelled_ends_and_is_undone(queue: World) -> None:
    execution = start(publish({"tasks": [undoable("a"), undoable("b"), effect("c", "b")]}))
    held = claimed(execution, "b.main")
    lifecycle.cancel(execution, actor=ACTOR)
    plan_execution.advance(execution)
    assert sweeper.compensations() == 0
    assert seen(execution)[:2] == ("PAUSED", "WAITING")

    assert recorded(held) is None
    assert sweeper.compensations() == 1
    queue.drain()

    assert seen(execution) == ("CANCELLED", "DONE", "CANCELLED")
    assert undone(execution) == [("undo:b.main", "b")]
    assert not Run.objects.filter(execution_id=execution, step_path="a.main", state="SUCCESS")


def test_a_lost_step_keeps_nobody_from_undoing(queue: World) -> None:
    execution = start(publish({"tasks": [undoable("a"), undoable("b")]}))
    recorded(claimed(execution, "a.main"))
    claimed(execution, "b.main")
    lifecycle.cancel(execution, actor=ACTOR)
    plan_execution.advance(execution)
    assert seen(execution)[:2] == ("PAUSED", "WAITING")

    lease_runs_out(Run.objects.get(execution_id=execution, step_path="b.main").pk)
    assert sweeper.compensations() == 1
    queue.drain()

    assert seen(execution) == ("CANCELLED", "DONE", "CANCELLED")
    assert undone(execution) == [("undo:a.main", "a")]


def test_an_execution_that_times_out_is_undone_without_a_deadline(queue: World) -> None:
    workflow = publish(
        {"tasks": [undoable("a"), effect("b", "a")], "settings": {"timeoutSeconds": 60}}
    )
    execution = start(workflow)
    recorded(claimed(execution, "a.main"))

    assert lifecycle.time_out(execution)
    assert not lifecycle.time_out(execution)
    plan_execution.advance(execution)
    queue.drain()

    assert seen(execution) == ("TIMEOUT", "DONE", "TIMEOUT")


def test_an_undo_that_fails_for_good_stops_the_rest_until_it_is_requeued(queue: World) -> None:
    execution = failing(
        queue,
        undoable("a"),
        undoable("b", "a", **DEAD),
        undoable("c", "b"),
        effect("bad", "c", **DEAD),
    )
    assert seen(execution) == ("FAILED", "FAILED", "FAILED")
    assert [path for path, _ in undone(execution)] == ["undo:c.main"]
    letters = {
        letter.step_path: letter for letter in DeadLetterEntry.objects.filter(execution=execution)
    }
    assert set(letters) == {"bad.main", "undo:b.main"}
    with pytest.raises(Compensated, match="undo step"):
        requeue(letters["bad.main"].pk, actor=ACTOR)

    requeue(letters["undo:b.main"].pk, actor=ACTOR, overrides={"failTimes": 0})
    queue.drain()

    assert seen(execution) == ("FAILED", "DONE", "FAILED")
    assert [path for path, _ in undone(execution)] == [
        "undo:c.main",
        "undo:b.main",
        "undo:a.main",
    ]
    with pytest.raises(Compensated, match="was undone"):
        requeue(letters["bad.main"].pk, actor=ACTOR)


@pytest.mark.parametrize(
    "mended", [lambda pk: skip(pk, actor=ACTOR), lambda pk: fix(pk, None, actor=ACTOR)]
)
def test_an_undo_that_a_person_did_is_passed_over(queue: World, mended: Any) -> None:
    execution = failing(
        queue, undoable("a"), undoable("b", "a", **DEAD), effect("bad", "b", **DEAD)
    )
    letter = DeadLetterEntry.objects.get(execution=execution, step_path="undo:b.main")

    mended(letter.pk)
    queue.drain()

    assert seen(execution) == ("FAILED", "DONE", "FAILED")
    assert undone(execution)[-1] == ("undo:a.main", "a")


def test_left_to_a_person_a_failed_execution_can_be_requeued_or_undone(queue: World) -> None:
    tasks = [undoable("a"), effect("bad", "a", **DEAD)]
    document = {"tasks": tasks, "settings": {"compensation": "manual"}}
    first, second = (
        failing(queue, **document) if False else start(publish(document)) for _ in "ab"
    )
    queue.drain()
    assert seen(first) == seen(second) == ("FAILED", "", "")
    letter = DeadLetterEntry.objects.get(execution=first)
    requeue(letter.pk, actor=ACTOR, overrides={"failTimes": 0})
    lifecycle.undo(second, actor=ACTOR, reason="gave up")
    queue.drain()

    assert seen(first) == ("SUCCESS", "", "")
    assert seen(second) == ("FAILED", "DONE", "FAILED")
    assert undone(second) == [("undo:a.main", "a")]
    assert Activity.objects.filter(action="execution.undo").latest("pk").reason == "gave up"
    with pytest.raises(Compensated):
        lifecycle.undo(second, actor=ACTOR)


def test_what_has_nothing_to_undo_is_not_undone(queue: World) -> None:
    execution = failing(queue, effect("bad", **DEAD), undoable("a", "bad"))

    with pytest.raises(WrongState, match="nothing to undo"):
        lifecycle.undo(execution, actor=ACTOR)

    assert seen(execution) == ("FAILED", "", "")


def test_undoing_waits_for_a_slot_of_its_workspace(queue: World) -> None:
    workspace = limited_workspace(1)
    document = {
        "tasks": [undoable("a"), effect("bad", "a", **DEAD)],
        "settings": {"compensation": "manual"},
    }
    execution = start(publish(document, workspace))
    queue.drain()
    blocking = start(publish({"tasks": [effect("x")]}, workspace))

    lifecycle.undo(execution, actor=ACTOR)

    assert seen(execution)[:2] == ("PENDING", "WAITING")
    queue.drain()
    assert states([blocking])[blocking] == "SUCCESS"
    assert seen(execution) == ("FAILED", "DONE", "FAILED")


def test_a_reused_result_is_not_undone(queue: World) -> None:
    cached = undoable("a") | {"cache": {"ttlSeconds": 60}}
    workflow = publish({"tasks": [cached, effect("bad", "a", **DEAD)]})
    first, second = start(workflow), None
    queue.drain()
    second = start(workflow)
    queue.drain()

    assert undone(first) == [("undo:a.main", "a")]
    assert seen(second) == ("FAILED", "", "")


def test_a_paused_compensation_goes_on_when_it_is_resumed(queue: World) -> None:
    execution = start(publish({"tasks": [undoable("a"), effect("b", "a")]}))
    recorded(claimed(execution, "a.main"))
    lifecycle.cancel(execution, actor=ACTOR)
    plan_execution.advance(execution)
    lifecycle.pause(execution, actor=ACTOR)
    queue.drain()
    assert seen(execution)[:2] == ("PAUSED", "RUNNING")

    lifecycle.resume(execution, actor=ACTOR)
    queue.drain()

    assert seen(execution) == ("CANCELLED", "DONE", "CANCELLED")


def test_an_error_workflow_starts_when_all_is_undone(queue: World) -> None:
    after = publish({"tasks": [task("tell")]})
    execution = failing(
        queue,
        undoable("a"),
        effect("bad", "a", **DEAD),
        settings={"onFailure": {"workflow": after.slug}},
    )

    told = WorkflowExecution.objects.get(failure_of=execution)
    undo = Run.objects.get(execution_id=execution, step_path="undo:a.main")
    assert undo.finished_at is not None
    assert told.created_at > undo.finished_at


def test_dead_letters_say_whether_their_execution_can_go_on(queue: World) -> None:
    execution = failing(
        queue, undoable("a"), undoable("b", "a", **DEAD), effect("bad", "b", **DEAD)
    )
    letters = DeadLetterEntry.objects.filter(execution=execution)

    assert "was undone, or is" in REQUEUE.refuse(letters.get(step_path="bad.main"))
    assert REQUEUE.refuse(letters.get(step_path="undo:b.main")) == ""


def test_it_is_explained_what_is_undone_when(queue: World) -> None:
    execution = start(publish({"tasks": [undoable("a"), undoable("b", "a"), effect("c", "b")]}))
    held = claimed(execution, "a.main")
    work = recorded(held)
    assert work is not None
    work = recorded((held[0], work))
    lifecycle.cancel(execution, actor=ACTOR)
    row = WorkflowExecution.objects.get(pk=execution)
    assert explain(row).reason.code == "waits_to_undo"

    plan_execution.advance(execution)

    found = explain(WorkflowExecution.objects.get(pk=execution))
    assert found.reason.code == "undoing"
    assert [(step.path, step.reason.code) for step in found.steps] == [
        ("undo:b.main", found.steps[0].reason.code),
        ("undo:a.main", "waits_to_be_undone"),
    ]
    assert "after undo:b.main" in found.steps[1].reason.message
    queue.drain()
    ended = explain(WorkflowExecution.objects.get(pk=execution))
    assert "Its completed steps were undone." in ended.reason.message


def test_what_was_undone_is_not_rolled_back_or_forked_from_its_middle(queue: World) -> None:
    execution = failing(queue, undoable("a"), effect("bad", "a", **DEAD))

    with pytest.raises(Compensated):
        roll_back(execution, step_path="a.main", actor=ACTOR)
    with pytest.raises(Compensated):
        fork(execution, step_path="bad.main", actor=ACTOR)
    again = fork(execution, actor=ACTOR)
    queue.drain()

    assert seen(again.pk) == ("FAILED", "DONE", "FAILED")
    assert verify(execution).differences == []


def test_a_fork_does_not_undo_what_its_origin_did(queue: World) -> None:
    tasks = [undoable("a"), undoable("b", "a"), effect("bad", "b", **DEAD)]
    document = {"tasks": tasks, "settings": {"compensation": "manual"}}
    origin = start(publish(document))
    queue.drain()

    forked = fork(origin, step_path="b.main", actor=ACTOR)
    queue.drain()
    lifecycle.undo(forked.pk, actor=ACTOR)
    queue.drain()

    assert [path for path, _ in undone(forked.pk)] == ["undo:b.main"]


def test_the_database_knows_no_compensation_without_an_ending(queue: World) -> None:
    execution = failing(queue, effect("bad", **DEAD), task("a", after="bad"))

    with pytest.raises(Exception, match="execution_compensation_known"), connection.cursor() as row:
        row.execute(
            "UPDATE executions_workflowexecution SET compensation = 'DONE' WHERE id = %s",
            [execution],
        )


@pytest.mark.parametrize("ended", [True, False])
def test_children_that_still_run_are_cancelled_before_anything_is_undone(
    queue: World, monkeypatch: pytest.MonkeyPatch, ended: bool
) -> None:
    told: list[tuple[str, UUID]] = []
    monkeypatch.setattr(messages, "tell", lambda name, subject, *_: told.append((name, subject)))
    child = publish({"tasks": [effect("inner")]})
    calls = task("call", "flow.subworkflow", "a", **{"with": {"workflow": child.slug}})
    execution = start(publish({"tasks": [undoable("a"), calls, effect("b", "call")]}))
    held = claimed(execution, "a.main")
    following = recorded(held)
    assert following is not None
    recorded((held[0], following))
    if ended:
        made = WorkflowExecution.objects.get(parent_id=execution)
        recorded(claimed(made.pk, "inner.main"))
    queue.queue.clear()
    told.clear()

    lifecycle.cancel(execution, actor=ACTOR)

    assert (told == []) if ended else ((child_executions.CANCEL, execution) in told)
    assert [(one.execution, one.segment) for one in queue.queue] == [(execution, "")], "to plan it"
    child_executions.cancel_of(execution)
    queue.drain()
    assert sweeper.compensations() == 0
    assert seen(execution) == ("CANCELLED", "DONE", "CANCELLED")
    assert undone(execution) == [("undo:a.main", "a")]


def test_an_undo_begins_though_no_message_can_be_sent(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = start(publish({"tasks": [undoable("a"), effect("b", "a")]}))
    recorded(claimed(execution, "a.main"))

    def fail(_: UUID) -> None:
        raise OSError("no broker")

    with monkeypatch.context() as patched:
        patched.setattr(messages, "advance", fail)
        lifecycle.cancel(execution, actor=ACTOR)
    assert seen(execution) == ("PAUSED", "WAITING", "CANCELLED")
    assert sweeper.compensations() == 1
    queue.drain()
    assert seen(execution) == ("CANCELLED", "DONE", "CANCELLED")


def test_nothing_is_stopped_where_nothing_is_due_to_be_undone(queue: World) -> None:
    execution = start(publish({"tasks": [undoable("a")]}))
    held = claimed(execution, "a.main")
    queue.queue.clear()
    with transaction.atomic():
        assert compensation.stop(execution, frozenset()) is False
        assert compensation.stop(uuid7(), frozenset()) is False
    assert not queue.queue
    assert recorded(held) is None
    assert states([execution])[execution] == "SUCCESS"
