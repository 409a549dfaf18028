"""The workflow as text: typed text becomes the document, and vice versa."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from executions.models import Workflow
from executions.publishing.versioning import checksum_of
from tests.browser.pictures import picture

pytestmark = pytest.mark.browser

TASKS = [
    {"id": "fetch", "name": "Fetch order", "use": "data.set", "with": {"values": {"limit": 1}}},
    {"id": "ship", "use": "flow.noop", "with": {}},
]


@pytest.fixture
def as_text(studio: Any, workflow: Any) -> Any:
    """Open the page of a workflow of two tasks, shown as text."""
    opened = studio(workflow(tasks=TASKS))
    opened.get_by_role("button", name="YAML", exact=True).click()
    expect(text_of(opened)).to_have_value(re.compile("id: fetch"))
    return opened


def text_of(page: Any) -> Any:
    return page.get_by_role("textbox", name="Workflow as YAML")


def replace(page: Any, old: str, new: str) -> None:
    field = text_of(page)
    value = field.input_value()
    assert old in value
    field.fill(value.replace(old, new))


def test_what_is_typed_becomes_the_document_and_is_saved_at_once(as_text: Any) -> None:
    page = as_text
    replace(page, "limit: 1", "limit: 7 # as agreed")
    page.keyboard.press("Control+s")
    draft = page.get_by_role("status", name="Draft")
    expect(draft).not_to_contain_text("unsaved")
    expect(draft).to_contain_text("saved")
    expect(text_of(page)).to_have_value(re.compile("limit: 7 # as agreed"))
    [fetch, _] = Workflow.objects.get().definition["tasks"]
    assert fetch["with"] == {"values": {"limit": 7}}
    page.get_by_role("button", name="Undo").click()
    expect(text_of(page)).to_have_value(re.compile("limit: 1"))
    expect(draft).to_contain_text("unsaved")


def test_a_mistake_is_told_with_its_place_and_changes_nothing(as_text: Any) -> None:
    page = as_text
    replace(page, "tasks:", "tasks: [")
    mistake = page.get_by_role("button", name=re.compile("line [0-9]+, column"))
    expect(mistake.first).to_be_visible()
    expect(page.get_by_role("status", name="Draft")).not_to_contain_text("unsaved")
    mistake.first.click()
    expect(text_of(page)).to_be_focused()
    replace(page, "tasks: [", "tasks:")
    expect(mistake).to_have_count(0)


def test_a_change_made_elsewhere_is_written_into_the_text(as_text: Any) -> None:
    page = as_text
    name = page.get_by_role("textbox", name="Name of the workflow")
    name.fill("renamed")
    name.press("Enter")
    expect(text_of(page)).to_have_value(re.compile("name: renamed"))


def test_comments_are_saved_and_stay_with_their_tasks(as_text: Any) -> None:
    page = as_text
    field = text_of(page)
    field.fill("# Orders of the shop\n\n" + field.input_value())
    replace(page, "  - id: ship", "  # To the customer\n  - id: ship")
    replace(page, "limit: 1", "limit: 1 # as agreed")
    page.keyboard.press("Control+s")
    draft = page.get_by_role("status", name="Draft")
    expect(draft).to_have_text("cloud_donesaved")
    page.reload()
    page.get_by_role("button", name="List", exact=True).click()
    page.get_by_role("button", name="Fetch order", exact=True).click()
    page.get_by_label("ID", exact=True).fill("load")
    page.get_by_label("ID", exact=True).press("Enter")
    page.get_by_role("button", name="YAML", exact=True).click()
    expect(field).to_have_value(re.compile("^# Orders of the shop\n\n"))
    expect(field).to_have_value(re.compile("# To the customer\n  - id: ship"))
    expect(field).to_have_value(re.compile("id: load(\n.*)+limit: 1 # as agreed"))
    expect(page.get_by_text("Comments are saved with the draft.")).to_be_visible()
    picture(page, "studio-yaml-comments")
    document = Workflow.objects.get().definition
    assert checksum_of(document) == checksum_of({k: v for k, v in document.items() if k != "ui"})


def test_tab_indents_and_escape_then_tab_leaves(as_text: Any) -> None:
    page = as_text
    field = text_of(page)
    field.fill("")
    field.press("Tab")
    expect(field).to_have_value("  ")
    field.press("Escape")
    field.press("Tab")
    expect(field).not_to_be_focused()
    expect(field).to_have_value("  ")
