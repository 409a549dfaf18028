"""The latest executions next to the canvas: selected, kept current, and opened on their pages."""

from typing import Any

import pytest
from playwright.sync_api import expect

from executions.publishing import versioning
from tests.browser.studio import running as on
from tests.browser.studio.canvas import node
from tests.browser.studio.looking import look
from tests.support.workflows import ACTOR, start

pytestmark = pytest.mark.browser


def open_list(page: Any) -> Any:
    """Open the list by its tab, and return it."""
    page.get_by_role("tab", name="Executions").click()
    return page.get_by_role("region", name="Latest executions")


def test_without_executions_it_says_what_to_do(studio: Any, workflow: Any) -> None:
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    found = open_list(page)
    expect(found).to_contain_text("No executions yet. Run the draft as a test")
    look(page, "studio-executions-none")
    found.get_by_role("button", name="Run…").click()
    on.payload(page, '{"n": 40}')
    execution = on.start_test(page, made)
    expect(found.get_by_role("listitem")).to_have_count(1)
    assert on.carry(execution) == "SUCCESS"
    expect(found.get_by_role("listitem")).to_contain_text("succeeded")


def test_a_chosen_execution_is_shown_and_new_ones_wait_above(studio: Any, workflow: Any) -> None:
    made = workflow("numbers", **on.THREE)
    versioning.publish(made.pk, actor=ACTOR)
    made.refresh_from_db()
    first, second = start(made, {"n": 1}), start(made, {"n": "one"})
    assert [on.carry(first), on.carry(second)] == ["SUCCESS", "FAILED"]
    page = studio(made)
    found = open_list(page)
    rows = found.get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("failed")
    expect(rows.nth(1)).to_contain_text("version 1")
    rows.nth(1).get_by_role("button").click()
    expect(rows.nth(1).get_by_role("button")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("Data from")).to_have_value(str(first))
    expect(node(page, "sum")).to_contain_text("succeeded")

    third = start(made, {"n": 3})
    found.get_by_role("button", name="1 new").click()
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).not_to_contain_text("succeeded")
    look(page, "studio-executions")
    assert on.carry(third) == "SUCCESS"
    expect(rows.nth(0)).to_contain_text("succeeded")

    rows.nth(1).get_by_role("link", name="Open the page of the execution, failed").click()
    expect(page.locator("#monitor")).to_have_attribute("data-ready", "yes")
    assert f"/{second}/change/" in page.url


def test_a_key_for_the_search_leads_back_to_the_modules(studio: Any, workflow: Any) -> None:
    page = studio(workflow("numbers", **on.THREE))
    open_list(page)
    page.get_by_role("region", name="Canvas", exact=True).click(position={"x": 300, "y": 40})
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search modules")).to_be_focused()
