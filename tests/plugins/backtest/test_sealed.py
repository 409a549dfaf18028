"""In sealed workspaces, payloads are opened to compare them, and results are sealed again."""

from typing import Any

import pytest

from executions.definition.graph.document import load_text
from executions.models import PayloadKey
from executions.sealing import payload_keys
from runners.modules.base import Result
from runners.testing.harness import Valkyr
from tests.support.whole_database import columns_with

from .comparing import compared, texts

MARKER = "m4rker-51e0c7d9a2b4"
CHARGE = """
schema: valkyr/1
name: sealed
variables: {seen: none}
tasks:
  - id: charge
    use: http.request
    with: {url: "https://bank.example/", method: POST, json: "{{ input.order }}"}
  - id: note
    use: flow.set_variables
    after: charge
    with: {values: {seen: "{{ tasks.charge.output.body.id }}"}}
output: "{{ vars.seen }}"
"""


def echo(inputs: Any, context: Any) -> Result:
    return Result(
        {
            "status": 200, "headers": {}, "body": {"id": inputs.json_body},
            "bodyEncoding": "json", "url": "u", "durationMs": 1,
        }
    )  # fmt: skip


@pytest.fixture
def run(db: None) -> Any:
    """Run an execution of a workspace that seals its payloads."""
    payload_keys.forget()
    valkyr = Valkyr()
    payload_keys.make(valkyr.workspace.pk)
    found = valkyr.start(CHARGE, {"order": MARKER}, answers={"http.request": echo})
    found.assert_state("SUCCESS")
    return found


def test_sealed_executions_are_compared_and_their_values_stay_sealed(run: Any) -> None:
    draft = load_text(CHARGE, content_type="yaml")
    draft["tasks"][0]["with"]["json"] = "{{ input.order }}!"

    assert compared(run).counts == {"SAME": 1}
    made = compared(run, draft)

    assert made.counts == {"WOULD_CALL": 1}
    (group,) = [one for one in made.groups["groups"] if one["verdict"] == "WOULD_CALL"]
    assert group["sample"] == [{"field": "json", "recorded": MARKER, "now": f"{MARKER}!"}]
    row = made.results.get()
    assert any(MARKER in str(step["changes"]) for step in row.steps)
    assert columns_with(MARKER) == []


def test_an_execution_whose_key_is_gone_cannot_be_compared(run: Any) -> None:
    payload_keys.stop(run.execution.workspace_id)
    PayloadKey.objects.all().delete()
    payload_keys.forget()

    made = compared(run)

    assert (made.state, made.counts) == ("DONE", {"NOT_COMPARABLE": 1}), (made.error, texts(made))
    assert made.groups["groups"][0]["reason"] == "SEALED"
