"""The list of problems: the page and the server find them while the user types, and each links to
its field.
"""

from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

RIGHT = {"id": "fetch", "name": "Fetch order", "use": "data.set", "with": {"values": {}}}


def test_problems_are_counted_and_listed_by_task_and_lead_to_it(studio: Any, workflow: Any) -> None:
    wrong = {"id": "ask", "name": "Ask twice", "use": "http.request", "with": {"maxBytes": 0}}
    tasks = [RIGHT, wrong, {"id": "loop", "use": "no.such"}]
    page = studio(workflow(tasks=tasks, edges=[{"from": "fetch", "to": "gone"}]))
    top = page.get_by_role("banner")
    count = top.get_by_role("button", name="4 problems")
    expect(count).to_be_visible()
    count.click()
    panel = page.get_by_role("region", name="Problems")
    expect(panel.get_by_role("button", name="with.maxBytes")).to_be_visible()
    expect(panel.get_by_text("Ask twice")).to_be_visible()
    panel.get_by_role("button", name="with.url").focus()
    page.keyboard.press("Enter")
    details = page.get_by_role("complementary", name="Details")
    expect(details.locator(":focus")).to_have_count(1)


def test_what_only_the_server_knows_is_listed_too(studio: Any, workflow: Any) -> None:
    page = studio(workflow(tasks=[RIGHT], triggers=[{"type": "CRON", "schedule": "61 * * * *"}]))
    count = page.get_by_role("banner").get_by_role("button", name="1 problem")
    expect(count).to_be_visible()
    count.click()
    panel = page.get_by_role("region", name="Problems")
    expect(panel.get_by_role("button", name="triggers[0].schedule")).to_be_visible()


def test_a_sound_workflow_has_no_problems(studio: Any, workflow: Any) -> None:
    page = studio(workflow(tasks=[RIGHT]))
    panel = page.get_by_role("region", name="Problems")
    panel.get_by_role("button", name="No problems").click()
    expect(panel.get_by_text("No problems found.")).to_be_visible()


def test_a_server_that_cannot_be_asked_is_said_to_be_missing(studio: Any, workflow: Any) -> None:
    found = workflow(tasks=[{"id": "ask", "use": "http.request", "with": {}}])
    # Answered by the test, since an aborted request would write a message to the console.
    refusal = {"status": 200, "content_type": "application/json", "body": "{}"}
    studio_page = studio(found)
    studio_page.route("**/validate", lambda route: route.fulfill(**refusal))
    studio_page.reload()
    studio_page.get_by_role("banner").get_by_role("button", name="1 problem").click()
    panel = studio_page.get_by_role("region", name="Problems")
    expect(panel.get_by_text("The server could not check the draft")).to_be_visible()
