"""A workspace that seals its payloads: the engine goes on, and the database holds no payload."""

import pytest
from django.db import connection

from dlq.models import DeadLetterEntry
from dlq.resolve.requeue import requeue
from executions.models import WorkflowExecution
from executions.sealing import SealBroken, payload_keys
from runners.models import Run
from runners.modules.base import Result, StepError
from runners.states import ErrorType
from runners.testing import in_turn
from runners.testing.harness import Valkyr
from tests.support.whole_database import columns_with

MARKER = "m4rker-7f3a9c5e1b2d"
EVERYTHING = """
schema: valkyr/1
name: sealed
variables: {seen: none}
tasks:
  - id: first
    use: http.request
    with: {url: "https://bank.example/charges", method: POST, json: "{{ input.order }}"}
  - id: note
    use: flow.set_variables
    after: first
    with: {values: {seen: "{{ tasks.first.output.body.id }}"}}
  - id: each
    use: flow.map
    after: note
    with: {items: "{{ input.list }}"}
    body:
      tasks:
        - id: one
          use: http.request
          with: {url: "https://bank.example/{{ index }}", method: POST, json: "{{ item }}"}
  - id: last
    use: flow.noop
    after: each
    with: {value: "{{ vars.seen }} {{ tasks.each.output[1].body.id }}"}
output: "{{ tasks.last.output }}"
"""


def answer(text: str):
    return {
        "status": 200, "headers": {}, "body": {"id": text}, "bodyEncoding": "json", "url": "u",
        "durationMs": 1,
    }  # fmt: skip


@pytest.fixture
def valkyr(db):
    payload_keys.forget()
    made = Valkyr()
    payload_keys.make(made.workspace.pk)
    return made


def echo(inputs, context):
    context.log.info(f"got {MARKER}")
    return Result(answer(f"{inputs.json_body}"))


def test_no_payload_of_a_sealed_workspace_is_in_the_database(valkyr):
    payload = {"order": f"order {MARKER}", "list": [f"a {MARKER}", f"b {MARKER}"]}

    run = valkyr.start(EVERYTHING, payload, answers={"http.request": echo})

    run.assert_state("SUCCESS")
    assert run.output == f"order {MARKER} b {MARKER}"
    assert run.variables == {"seen": f"order {MARKER}"}
    assert run.inputs("first")["json"] == f"order {MARKER}"
    assert run.logs("first")[0]["message"] == f"got {MARKER}"
    assert columns_with(MARKER) == []
