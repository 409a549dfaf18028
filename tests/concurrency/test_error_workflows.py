"""Error workflows start once for each failure, are never lost, and never block other work."""

from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions import lifecycle
from executions.admission import capacity
from executions.models import Activity, WorkflowExecution
from runners.recovery.sweeper import admission as duty
from tests.support.rivals import Rivals, my_session, wait_until_blocked
from tests.support.segments import claimed, recorded
from tests.support.single_thread import World
from tests.support.workflows import ACTOR, effect, limited_workspace, publish, start, states

OPS = {"tasks": [effect("tell")], "input": {"type": "object", "required": ["execution"]}}


def failing(slug: str, workspace: Any = None, **settings: Any) -> Any:
    """Publish a workflow whose only step fails permanently, and which names an error workflow."""
    return publish(
        {
            "settings": {"onFailure": {"workflow": slug}, **settings},
            "tasks": [effect("break", failTimes=1, errorType="PERMANENT")],
        },
        workspace,
    )


def started_for(execution: UUID) -> list[WorkflowExecution]:
    return list(WorkflowExecution.objects.filter(failure_of=execution).order_by("created_at"))


def test_a_failing_execution_starts_the_error_workflow_with_what_failed(queue: World) -> None:
    ops = publish(OPS)
    workflow = failing(ops.slug)
    execution = start(workflow, {"order": 7})
    queue.drain()
    [told] = started_for(execution)
    assert (told.workflow_id, told.state, told.trigger_type) == (ops.pk, "SUCCESS", "EVENT")
    failed = WorkflowExecution.objects.get(pk=execution)
    given = told.trigger_payload["execution"]
    message = given["error"].pop("message")
    assert "break.main" in message
    assert given == {
        "id": str(execution),
        "workflow": workflow.slug,
        "version": 1,
        "state": "FAILED",
        "startedAt": failed.started_at.isoformat() if failed.started_at else None,
        "finishedAt": failed.finished_at.isoformat() if failed.finished_at else None,
        "error": {"step": "break.main", "type": "PERMANENT"},
        "input": {"order": 7},
        "inputOmitted": False,
    }
    noted = Activity.objects.get(object_id=execution, action="execution.notify")
    assert noted.details == {"workflow": ops.slug, "executionId": str(told.pk)}


def test_an_execution_that_times_out_starts_it_too(queue: World) -> None:
    execution = start(failing(publish(OPS).slug))
    lifecycle.time_out(execution)
    [told] = started_for(execution)
    assert told.trigger_payload["execution"]["state"] == "TIMEOUT"
    assert told.trigger_payload["execution"]["error"] == {
        "message": "The execution's deadline passed.",
        "step": None,
        "type": "TIMEOUT",
    }


def test_success_and_cancelling_start_none(queue: World) -> None:
    slug = publish(OPS).slug
    fine = publish({"settings": {"onFailure": {"workflow": slug}}, "tasks": [effect("one")]})
    ended, cancelled = start(fine), start(fine)
    lifecycle.cancel(cancelled, actor=ACTOR)
    queue.drain()
    assert states([ended])[ended] == "SUCCESS"
    assert started_for(ended) == started_for(cancelled) == []


def test_an_error_workflow_that_fails_starts_no_other(queue: World) -> None:
    other = publish(OPS)
    broken = failing(other.slug)
    execution = start(failing(broken.slug))
    queue.drain()
    [told] = started_for(execution)
    assert told.state == "FAILED"
    assert started_for(told.pk) == []


def test_a_requeued_execution_that_fails_again_tells_again(queue: World) -> None:
    workflow = publish(
        {
            "settings": {"onFailure": {"workflow": publish(OPS).slug}},
            "tasks": [effect("break", failTimes=2, errorType="PERMANENT")],
        }
    )
    execution = start(workflow)
    for times in (1, 2):
        queue.drain()
        assert len(started_for(execution)) == times
        requeue(
            DeadLetterEntry.objects.filter(execution_id=execution, resolution="PENDING")[0].pk,
            actor=ACTOR,
        )
    queue.drain()
    assert states([execution])[execution] == "SUCCESS"
    assert len(started_for(execution)) == 2


def test_of_two_that_fail_it_at_once_one_tells(queue: World, rivals: Rivals) -> None:
    execution = start(failing(publish(OPS).slug))
    held = claimed(execution, "break.main")
    with transaction.atomic():
        recorded(held)
        late = rivals.begin(lifecycle.time_out, execution)
        wait_until_blocked(my_session())
    assert late.result(60) is False
    assert len(started_for(execution)) == 1


def test_nothing_is_told_of_an_end_that_was_undone(queue: World) -> None:
    execution = start(failing(publish(OPS).slug))
    with transaction.atomic():
        lifecycle.time_out(execution)
        assert len(started_for(execution)) == 1
        transaction.set_rollback(True)
    assert started_for(execution) == []


def test_one_whose_admission_was_lost_is_admitted_by_the_duty(
    queue: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    execution = start(failing(publish(OPS).slug))
    with monkeypatch.context() as dying, transaction.atomic():
        # The process ends between the commit and what follows it.
        dying.setattr(transaction, "on_commit", lambda *_, **__: None)
        lifecycle.time_out(execution)
    [told] = started_for(execution)
    assert told.state == "PENDING"
    assert duty.waiting_executions() == 1
    queue.drain()
    assert states([told.pk])[told.pk] == "SUCCESS"


@pytest.mark.parametrize("fault", ["missing", "disabled", "unpublished", "refuses"])
def test_an_error_workflow_that_cannot_start_is_noted_and_nothing_else(
    queue: World, fault: str
) -> None:
    ops = publish(OPS | {"input": {"type": "object", "required": ["other"]}})
    slug = ops.slug
    if fault == "missing":
        slug = "no-such-workflow"
    elif fault == "disabled":
        type(ops).objects.filter(pk=ops.pk).update(enabled=False)
    elif fault == "unpublished":
        type(ops).objects.filter(pk=ops.pk).update(latest_version=None)
    execution = start(failing(slug))
    queue.drain()
    assert states([execution])[execution] == "FAILED"
    assert started_for(execution) == []
    noted = Activity.objects.get(object_id=execution, action="execution.notify_refused")
    assert noted.details == {"workflow": slug}
    assert noted.reason


def test_an_input_that_makes_the_payload_too_long_is_left_out(queue: World) -> None:
    execution = start(failing(publish(OPS).slug), {"text": "x" * (1024 * 1024 - 20)})
    queue.drain()
    given = started_for(execution)[0].trigger_payload["execution"]
    assert (given["input"], given["inputOmitted"]) == (None, True)


def test_in_a_full_workspace_it_waits_for_a_place(queue: World) -> None:
    workspace = limited_workspace(1, waiting=1)
    ops = publish(OPS, workspace)
    workflow = failing(ops.slug, workspace)
    first, second = start(workflow), start(workflow)
    held = claimed(first, "break.main")
    recorded(held)
    [told] = started_for(first)
    assert capacity.active(workspace.pk) == 1
    assert states([second, told.pk]) == {second: "RUNNING", told.pk: "PENDING"}
    queue.drain()
    assert states([told.pk])[told.pk] == "SUCCESS"


def test_a_concurrency_key_lets_error_executions_wait_for_each_other(queue: World) -> None:
    rule = {"key": "{{ input.execution.workflow }}", "onConflict": "reject"}
    ops = publish(OPS | {"settings": {"concurrency": rule}})
    workflow = failing(ops.slug)
    first, second = start(workflow), start(workflow)
    for execution in (first, second):
        recorded(claimed(execution, "break.main"))
    told = started_for(first) + started_for(second)
    assert [one.state for one in told] == ["RUNNING", "PENDING"]
    queue.drain()
    assert set(states([one.pk for one in told]).values()) == {"SUCCESS"}
