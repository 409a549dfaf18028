"""A draft from a description: the installation's language model writes it, and it is not saved."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from runners.modules import registry
from tests.browser.studio import running as on
from tests.browser.studio.canvas import draft, node
from tests.browser.studio.looking import look
from valkyr_project.demo.llm_server import Body, LlmHandler, LlmServer

pytestmark = pytest.mark.browser

ANSWER = """Here is your workflow:

```yaml
schema: valkyr/1
name: anything
tasks:
  - id: check
    name: Check the stock
    use: http.request
    with: {url: '{{ todo("the address of the stock") }}'}
  - id: charge
    name: Charge the card
    use: flow.noop
edges:
  - {from: check, to: charge}
```
"""


class Author(LlmHandler):
    """Writes the same workflow for every description; the model `mute` writes none."""

    asked: list[Body] = []

    def chat(self, body: Body) -> None:
        self.asked.append(body)
        self.say(body, "I cannot." if body["model"] == "mute" else ANSWER)


@pytest.fixture
def author(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Body]]:
    """Yield the requests to the model; steps reach it without their own address."""
    registry.get("llm.chat").warm_up()
    server = LlmServer(handler=Author)
    server.start()
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    monkeypatch.setenv("VALKYR_LLM_BASE_URL", server.url)
    Author.asked.clear()
    yield Author.asked
    server.stop()


def describe(page: Any, words: str, model: str) -> Any:
    """Fill in the dialog and start; return the id of the run that asks the model."""
    page.get_by_role("button", name="Generate from a description…").click()
    dialog = page.get_by_role("dialog", name="Generate a draft")
    expect(dialog.get_by_label("What the workflow does")).to_be_focused()
    dialog.get_by_label("What the workflow does").fill(words)
    dialog.get_by_label("Model").fill(model)
    with page.expect_response("**/test") as sent:
        dialog.get_by_role("button", name="Generate", exact=True).click()
    return sent.value.json()["id"]


def test_a_draft_appears_with_its_problems_and_nothing_is_saved(
    studio: Any, workflow: Any, author: list[Body]
) -> None:
    stored = workflow("orders")
    page = studio(stored)
    execution = describe(page, "Charge the card of {{ each }} order.", "writer")
    dialog = page.get_by_role("dialog", name="Generate a draft")
    expect(dialog.get_by_role("status")).to_contain_text("The model is writing the draft.")
    look(page, "studio-generate")
    assert on.carry(execution) == "SUCCESS"
    expect(dialog).to_be_hidden()
    expect(node(page, "check")).to_contain_text("Check the stock")
    expect(node(page, "charge")).to_be_visible()
    expect(draft(page)).to_contain_text("unsaved")
    expect(page.get_by_role("button", name="1 problem").first).to_be_visible()
    stored.refresh_from_db()
    assert stored.definition["tasks"] == []
    assert stored.latest_version is None
    system, user = author[0]["messages"]
    assert "- http.request: " in system["content"]
    assert "{{ tasks.ID.output.name }}" in system["content"]
    assert user["content"] == "Charge the card of {{ each }} order."
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text("This workflow has no tasks yet")).to_be_visible()


def test_an_answer_that_is_no_workflow_is_told_and_the_description_stays(
    studio: Any, workflow: Any, author: list[Body]
) -> None:
    page = studio(workflow("orders"))
    assert on.carry(describe(page, "Sing.", "mute")) == "SUCCESS"
    dialog = page.get_by_role("dialog", name="Generate a draft")
    expect(dialog.get_by_role("alert")).to_contain_text("The model's answer is not a workflow")
    expect(dialog.get_by_label("What the workflow does")).to_have_value("Sing.")
    assert len(json.dumps(author)) > 1000
