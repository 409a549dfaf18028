"""Executions are undone on real workers, some of which are killed in the middle."""

from typing import Any
from uuid import UUID

from executions import lifecycle
from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from tests.support.workflows import (
    ACTOR,
    describe,
    effect,
    publish,
    start,
    start_many,
    task,
    wait_for_end,
)

DEAD = {"errorType": "PERMANENT", "failTimes": 1}


def undoable(name: str, after: Any = None, *, undo: Any = None, **inputs: Any) -> dict[str, Any]:
    step = {"use": "test.effect", "with": {"value": name, **(undo or {})}}
    return effect(name, after, undo=step, **inputs)


def undone(execution: UUID) -> list[str]:
    """Return the undo steps that succeeded, in the order in which they ended."""
    runs = Run.objects.filter(execution_id=execution, step_path__contains="undo:", state="SUCCESS")
    return list(runs.order_by("finished_at").values_list("step_path", flat=True))


def test_killed_workers_keep_nothing_from_being_undone_once(fleet: Fleet) -> None:
    killing = {"killTimes": 1}
    workflow = publish(
        {
            "tasks": [
                undoable("a", undo=killing),
                undoable("b", "a", undo={"failTimes": 1}),
                undoable("c", "b", undo=killing),
                effect("bad", "c", **DEAD),
            ]
        }
    )
    executions = start_many(workflow, [{} for _ in range(4)])
    ended = wait_for_end(executions, 90)

    assert set(ended.values()) == {"FAILED"}, describe(executions)
    for execution in executions:
        assert undone(execution) == ["undo:c.main", "undo:b.main", "undo:a.main"]
        row = WorkflowExecution.objects.get(pk=execution)
        assert (row.compensation, row.ending) == ("DONE", "FAILED")
    audit(executions)


def test_a_running_step_ends_before_it_is_undone_and_others_are_ended(fleet: Fleet) -> None:
    execution = start(
        publish({"tasks": [undoable("kept", seconds=2), effect("ended", seconds=60)]})
    )
    running = Run.objects.filter(execution_id=execution, state="RUNNING")
    wait_until(lambda: running.count() == 2, 30, "both steps at work")

    lifecycle.cancel(execution, actor=ACTOR)

    assert wait_for_end([execution], 30)[execution] == "CANCELLED"
    states = dict(Run.objects.filter(execution_id=execution).values_list("step_path", "state"))
    assert states == {
        "kept.main": "SUCCESS", "undo:kept.main": "SUCCESS", "ended.main": "CANCELLED",
    }  # fmt: skip
    audit([execution])


def test_a_cancelled_parent_is_undone_after_its_child(fleet: Fleet) -> None:
    inner = publish({"tasks": [undoable("x"), effect("y", "x", seconds=60)]})
    call = task("call", "flow.subworkflow", "a", **{"with": {"workflow": inner.slug}})
    root = start(publish({"tasks": [undoable("a"), call]}))
    working = Run.objects.filter(execution__parent_id=root, step_path="y.main", state="RUNNING")
    wait_until(working.exists, 30, "the child at work")

    lifecycle.cancel(root, actor=ACTOR)

    child = WorkflowExecution.objects.get(parent_id=root).pk
    assert set(wait_for_end([root, child], 30).values()) == {"CANCELLED"}
    assert (undone(child), undone(root)) == (["undo:x.main"], ["undo:a.main"])
    first, then = (
        Run.objects.get(execution_id=pk, step_path__startswith="undo:") for pk in (child, root)
    )
    assert first.finished_at is not None
    assert first.finished_at <= then.queued_at
    audit([root, child])
