"""Steps publish an event of their workspace once each, and not in an endless chain."""

from typing import Any
from uuid import UUID

import pytest

from executions.models import Activity, Event, Workflow, WorkflowExecution
from runners.models import Run
from runners.pipeline import execute
from runners.segment.work import Unit
from runners.waits.events import MAX_CHAIN, chain_of
from tests.support.segments import claimed, recorded, run_of
from tests.support.workflows import default_workspace, publish, start, task

pytestmark = pytest.mark.django_db(transaction=True)


def telling(event: str, payload: Any = "{{ input }}", **more: Any) -> Workflow:
    """Publish a workflow of one step, which publishes an event."""
    tell = task("tell", "event.publish", **{"with": {"event": event, "payload": payload}})
    return publish({"tasks": [tell], **more})


def listening(event: str, **more: Any) -> dict[str, Any]:
    return {"triggers": [{"type": "EVENT", "event": event, **more}]}


def told(execution: UUID) -> Run:
    """Execute the publishing step; return its run."""
    recorded(claimed(execution, "tell.main"))
    return run_of(execution, "tell.main")


def test_a_step_starts_what_listens_in_its_own_workspace() -> None:
    listener = publish({"tasks": [task("a")], **listening("order.paid")})
    publish({"tasks": [task("a")], **listening("order.lost")})

    run = told(start(telling("order.paid"), {"order": 17}))

    started = WorkflowExecution.objects.get(workflow=listener)
    event = Event.objects.get()
    assert run.outputs == {
        "eventId": event.event_id,
        "executions": [str(started.pk)],
        "refused": [],
        "created": True,
    }
    assert started.trigger_payload == event.payload == {"order": 17}
    assert event.workspace_id == default_workspace().pk
    audit = Activity.objects.get(action="event.publish")
    assert audit.actor_name == f"step tell.main of {run.execution_id}"


def test_a_step_that_is_tried_again_tells_nothing_twice() -> None:
    publish({"tasks": [task("a")], **listening("order.paid")})
    held = claimed(start(telling("order.paid"), 1), "tell.main")

    # The worker ends after the event and before its result, and another one repeats the step.
    first = execute.perform(*held)
    second = execute.perform(*held)

    assert outputs(second) == outputs(first) | {"created": False}
    assert Event.objects.count() == 1
    assert WorkflowExecution.objects.count() == 2


def outputs(unit: Unit) -> dict[str, Any]:
    assert unit.head is not None, unit.failure
    found: dict[str, Any] = unit.head.result.outputs
    return found


def test_a_trigger_that_cannot_start_is_told_and_fails_nothing() -> None:
    schema = {"input": {"type": "object"}}
    publish({"tasks": [task("a")], **listening("order.paid"), **schema})

    run = told(start(telling("order.paid", "no object")))

    assert run.state == "SUCCESS"
    assert [refusal["code"] for refusal in run.outputs["refused"]] == ["invalid_payload"]
    assert run.logs[0]["level"] == "warning"


def test_a_payload_that_is_too_large_fails_for_good() -> None:
    held = claimed(start(telling("order.paid", ["{{ 'x' * 600000 }}"] * 2)), "tell.main")

    failure = execute.perform(*held).failure

    assert failure is not None
    assert failure.error_type == "PERMANENT"
    assert "the event cannot be stored" in failure.message


def test_a_workflow_that_triggers_itself_comes_to_an_end() -> None:
    workflow = telling("ping", **listening("ping"))
    execution = start(workflow)

    for chain in range(MAX_CHAIN):
        assert chain_of(execution) == chain
        (started,) = told(execution).outputs["executions"]
        execution = UUID(started)
    failure = execute.perform(*claimed(execution, "tell.main")).failure

    assert failure is not None
    assert "event 11 of a chain" in failure.message
    assert WorkflowExecution.objects.count() == MAX_CHAIN + 1


def test_a_chain_goes_on_through_children_and_error_workflows() -> None:
    first = start(telling("ping", **listening("ping")))
    (started,) = told(first).outputs["executions"]
    child = start(telling("other"))
    WorkflowExecution.objects.filter(pk=child).update(parent_id=started)
    mourner = start(telling("third"))
    WorkflowExecution.objects.filter(pk=mourner).update(failure_of_id=child)

    assert [chain_of(execution) for execution in (first, child, mourner)] == [0, 1, 1]
    told(mourner)
    assert Event.objects.get(name="third").event_id.startswith("step:2:")
