"""Events of steps that refer to stored contents."""

from datetime import timedelta
from pathlib import Path

import pytest

from executions.models import Event, StoredPayload, WorkflowExecution
from executions.payload_store import collecting
from executions.payloads import STORED
from executions.sealing import payload_keys
from runners.models import Run
from runners.modules.base import Module, ModuleInputs, Result
from runners.testing.harness import Valkyr
from tests.support.payload_store import use_store


class Publisher(Module[ModuleInputs]):
    """Publishes an event with stored content."""

    type = "test.publisher"
    title = "Publisher"
    category = "other"
    Inputs = ModuleInputs
    example = {}

    def execute(self, inputs, ctx) -> Result:
        found = ctx.store_content([b"abc"], media_type="text/plain")
        ctx.publish_event("made", {"n": 1, "file": found})
        return Result({})


PUBLISHES = """
schema: valkyr/1
name: publishes
tasks: [{id: make, use: test.publisher}]
"""
WAITS = """
schema: valkyr/1
name: waits
tasks:
  - {id: wait, use: flow.wait_for_event, with: {event: made, filter: "{{ event.n == 1 }}"}}
output: "{{ tasks.wait.output.event.file.bytes }}"
"""
LISTENS = """
schema: valkyr/1
name: listens
triggers: [{type: EVENT, event: made}]
tasks: [{id: read, use: flow.noop, with: {value: "{{ input.file.bytes }}"}}]
output: "{{ tasks.read.output }}"
"""


@pytest.fixture
def valkyr(transactional_db, settings, tmp_path: Path) -> Valkyr:
    use_store(settings, tmp_path)
    payload_keys.forget()
    return Valkyr()


def test_an_event_refers_to_a_stored_content(valkyr):
    valkyr.install(Publisher)
    workflow = valkyr.publish(LISTENS)
    waiting = valkyr.start(WAITS, {})

    made = valkyr.start(PUBLISHES, {}).assert_state("SUCCESS")

    waiting.carry().assert_state("SUCCESS")
    assert waiting.output == 3
    assert WorkflowExecution.objects.filter(workflow=workflow).count() == 1
    [event] = Event.objects.all()
    assert event.payload["file"][STORED]
    for pk in WorkflowExecution.objects.values_list("pk", flat=True):
        Run.objects.filter(execution_id=pk).delete()
    WorkflowExecution.objects.all().delete()
    assert collecting.collect(grace=timedelta(0)).deleted == 0
    event.delete()
    assert collecting.collect(grace=timedelta(0)).deleted == 1
    assert not StoredPayload.objects.exists()
    assert made
