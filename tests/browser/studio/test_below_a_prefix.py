"""Studio, executions, triage and the API's pages in a project with other URLs.

`valkyr.urls` are under `/flows/`, the admin is at `/office/`: no page may request any other URL.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Request, expect

from executions.models import WorkflowExecution
from tests.browser import monitored
from tests.browser.studio import running as on
from tests.browser.studio.canvas import node
from tests.support import admin_rows as rows
from tests.support.segments import claimed, recorded

pytestmark = pytest.mark.browser
PLACES = ("/flows/", "/office/", "/static/")


@pytest.fixture
def elsewhere(settings: Any, staff_page: Any) -> Iterator[Any]:
    """Yield a page of the project; fail if it requests any other URL."""
    settings.ROOT_URLCONF = "tests.hostile.urls"
    settings.VALKYR = {}
    settings.CSRF_COOKIE_NAME = "host-csrf"
    settings.CSRF_COOKIE_HTTPONLY = True
    settings.CSRF_HEADER_NAME = "HTTP_X_HOST_CSRF"
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(urlsplit(request.url).path)

    staff_page.on("request", note)
    yield staff_page
    staff_page.remove_listener("request", note)
    assert len(asked) > 5
    assert [path for path in asked if not path.startswith(PLACES)] == []


def studio(page: Any, query: str = "") -> Any:
    page.goto(f"{page.home}/flows/studio/{query}")
    return page


def test_a_workflow_is_found_changed_run_and_watched(elsewhere: Any, workflow: Any) -> None:
    made = workflow(
        "numbers", input={"required": ["n"], "properties": {"n": {"type": "integer"}}}, **on.THREE
    )
    page = studio(elsewhere)
    page.get_by_role("link", name="numbers").click()
    expect(page.get_by_role("region", name="Canvas", exact=True)).to_be_visible()
    name = page.get_by_label("Name of the workflow")
    name.fill("sums")
    with page.expect_response(lambda answer: answer.request.method == "PATCH") as saved:
        page.keyboard.press("Control+s")
    assert saved.value.status == 200
    dialog = on.open_run(page)
    dialog.locator(".form input").first.fill("40")

    execution = on.start_test(page, made)

    on.run_state(page, "running")
    recorded(claimed(execution, "first.main"))
    assert on.carry(execution) == "SUCCESS"
    on.run_state(page, "succeeded")
    expect(node(page, "sum")).to_contain_text("succeeded")
    made.refresh_from_db()
    assert made.name == "sums"


def test_an_execution_is_watched_on_its_page(elsewhere: Any) -> None:
    order = monitored.order()
    pk = order.pk

    elsewhere.goto(f"{elsewhere.home}/office/executions/workflowexecution/{pk}/change/")

    expect(elsewhere.locator("#monitor")).to_have_attribute("data-ready", "yes")
    expect(elsewhere.get_by_role("status", name="Connection")).to_contain_text("live")
    elsewhere.get_by_role("table", name="Runs").get_by_role(
        "button", name="validate, attempt 1, succeeded"
    ).click()
    link = elsewhere.get_by_role("link", name="Open in studio")
    expect(link).to_have_attribute("href", f"/office/executions/workflowexecution/{pk}/studio/")
    assert WorkflowExecution.objects.get().pk == pk


def test_keys_lead_from_one_list_of_triage_to_the_other(elsewhere: Any) -> None:
    ended = rows.execution(rows.workflow(), "FAILED", error_message="it failed")
    rows.dead_letter(rows.run(ended, "charge.main"))
    elsewhere.goto(f"{elsewhere.home}/office/dlq/failuregroup/")

    elsewhere.keyboard.press("g")
    elsewhere.keyboard.press("e")

    elsewhere.wait_for_url(f"{elsewhere.home}/office/dlq/deadletterentry/")
    expect(elsewhere.get_by_text("1 dead letter", exact=False).first).to_be_visible()


def test_an_operation_is_tried_on_the_api_s_page(elsewhere: Any) -> None:
    elsewhere.goto(f"{elsewhere.home}/flows/docs#/Me/getMe")
    operation = elsewhere.locator("#operations-Me-getMe")
    operation.get_by_role("button", name="Try it out").click()

    with elsewhere.expect_response("**/flows/v1/Me") as answer:
        operation.get_by_role("button", name="Execute").click()

    assert answer.value.json()["username"] == "op"


def test_who_is_not_signed_in_is_led_to_the_project_s_admin_and_back(elsewhere: Any) -> None:
    elsewhere.context.clear_cookies()

    studio(elsewhere)

    assert urlsplit(elsewhere.url).path == "/office/login/"
    assert urlsplit(elsewhere.url).query == "next=/flows/studio/"
    for _ in range(5):
        elsewhere.reload()
