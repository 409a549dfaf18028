"""From a trigger to a dead letter and back, on real workers: the engine without plugins.

`.ci/test` also runs these tests with every plugin left out.
"""

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions.models import WorkflowExecution
from executions.triggers.event import publish_event
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.workflows import ACTOR, default_workspace, effect, publish, wait_for_end


def test_an_event_starts_it_a_step_is_dead_and_a_requeue_ends_it(fleet: Fleet) -> None:
    workspace = default_workspace()
    workflow = publish(
        {
            "triggers": [{"type": "EVENT", "event": "order.paid"}],
            "output": "{{ tasks.after.output }}",
            "tasks": [
                effect("bad", failTimes=1, errorType="PERMANENT", value="{{ input.n }}"),
                effect("after", "bad", value="{{ tasks.bad.output }}"),
            ],
        },
        workspace,
    )
    published = publish_event(workspace, "order.paid", {"n": 7}, actor=ACTOR)
    assert published.created
    execution = WorkflowExecution.objects.get(workflow=workflow)
    wait_for_end([execution.pk])
    entry = DeadLetterEntry.objects.get(execution_id=execution.pk)
    requeue(entry.pk, actor=ACTOR, reason="The partner is back.")
    wait_for_end([execution.pk])
    execution.refresh_from_db()
    assert (execution.state, execution.output) == ("SUCCESS", 7)
    audit([execution.pk])
