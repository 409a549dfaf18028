"""Problems, dialogs and text follow the rules of WCAG, in light and dark."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from executions.models import Workflow
from executions.publishing import versioning
from tests.support.accessibility import findings_in_both
from tests.support.workflows import ACTOR

pytestmark = pytest.mark.browser


@pytest.fixture
def changed(workflow: Any) -> Workflow:
    """Create a published workflow whose draft has changes, some of them invalid."""
    fetch = {"id": "fetch", "use": "data.set", "with": {"values": {"limit": 1}}}
    found: Workflow = workflow(tasks=[fetch])
    versioning.publish(found.pk, actor=ACTOR)
    other = fetch | {"with": {"values": {"limit": 2}}}
    draft = found.definition | {"tasks": [other, {"id": "ask", "use": "http.request", "with": {}}]}
    return versioning.update_workflow(
        found.pk, {"definition": draft}, actor=ACTOR, expected_revision=None
    )


def test_nothing_here_breaks_the_rules(studio: Any, changed: Any) -> None:
    page = studio(changed)
    page.get_by_role("banner").get_by_role("button", name="1 problem").click()
    expect(page.get_by_role("region", name="Problems").get_by_text("with.url")).to_be_visible()
    assert findings_in_both(page, ".problems", ".top") == []
    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("row", name="with.values.limit 1 2")).to_be_visible()
    assert findings_in_both(page, "dialog") == []
    dialog.get_by_role("button", name="Text", exact=True).click()
    assert findings_in_both(page, "dialog") == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Versions").click()
    expect(dialog.get_by_role("row", name="with.values.limit 1 2")).to_be_visible()
    assert findings_in_both(page, "dialog") == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="YAML", exact=True).click()
    text = page.get_by_role("textbox", name="Workflow as YAML")
    expect(text).to_have_value(re.compile("id: fetch"))
    text.fill("tasks: [")
    expect(page.get_by_role("button", name=re.compile("line 1, column"))).to_be_visible()
    assert findings_in_both(page, ".yamlview") == []
