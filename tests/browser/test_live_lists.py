"""A displayed list stays current: rows change in place, and new rows are counted."""

import json
from typing import Any

import pytest
from django.contrib.admin.views.main import PAGE_VAR
from django.utils import timezone
from playwright.sync_api import expect

from dlq.admin.keyset import CURSORS
from executions.models import Workflow, WorkflowExecution
from tests.support import admin_rows as rows
from tests.support.accessibility import findings
from tests.support.stack import PROJECT

EXECUTIONS = "/admin/executions/workflowexecution/"
# Longer than the list waits between two looks, in milliseconds of the page's clock.
A_LOOK = 11_000


@pytest.fixture
def listed(staff_page: Any) -> Any:
    """Open the list of executions, with a running one, and a clock that the test controls."""
    rows.execution(rows.workflow())
    staff_page.clock.install()
    assert staff_page.goto(f"{staff_page.home}{EXECUTIONS}").status == 200
    return staff_page


def test_the_script_knows_the_parameters_of_every_kind_of_pages() -> None:
    script = (PROJECT / "executions/static/executions/live.js").read_text()

    assert json.dumps([PAGE_VAR, *CURSORS]) in script


def body(page: Any) -> Any:
    return page.locator("#result_list tbody")


def look(page: Any) -> None:
    """Let the time until the next update pass."""
    with page.expect_response(lambda answer: answer.url.endswith(EXECUTIONS)):
        page.clock.run_for(A_LOOK)


def test_a_row_changes_in_place(listed: Any) -> None:
    expect(body(listed)).to_contain_text("running")

    WorkflowExecution.objects.update(state="FAILED", finished_at=timezone.now())
    look(listed)

    expect(body(listed)).to_contain_text("failed")
    expect(listed.get_by_role("button", name="new")).to_be_hidden()
    assert findings(listed, without=("#searchbar-submit",)) == []  # Unfold's own


def test_new_rows_are_counted_and_shown_on_demand(listed: Any) -> None:
    before = body(listed).count()
    rows.execution(Workflow.objects.get())

    look(listed)

    expect(listed.get_by_role("button", name="1 new")).to_be_visible()
    assert body(listed).count() == before
    listed.get_by_role("button", name="1 new").click()
    expect(body(listed)).to_have_count(before + 1)


def test_a_paused_list_stays_as_it_is(listed: Any) -> None:
    listed.get_by_role("button", name="Live", exact=True).click()
    expect(listed.get_by_role("button", name="Paused")).to_have_attribute("aria-pressed", "true")

    WorkflowExecution.objects.update(state="FAILED", finished_at=timezone.now())
    asked: list[str] = []
    listed.on("request", lambda request: asked.append(request.url))
    listed.clock.run_for(3 * A_LOOK)

    assert [url for url in asked if url.endswith(EXECUTIONS)] == []
    with listed.expect_response(lambda answer: answer.url.endswith(EXECUTIONS)):
        listed.get_by_role("button", name="Paused").click()
    expect(body(listed)).to_contain_text("failed")


def test_a_row_that_no_longer_fits_the_filter_shows_its_present_state(staff_page: Any) -> None:
    rows.execution(rows.workflow())
    staff_page.clock.install()
    address = f"{EXECUTIONS}?state=running"
    assert staff_page.goto(f"{staff_page.home}{address}").status == 200
    expect(body(staff_page)).to_contain_text("running")

    WorkflowExecution.objects.update(state="FAILED", finished_at=timezone.now())
    with staff_page.expect_response(lambda answer: answer.url.endswith(EXECUTIONS)):
        staff_page.clock.run_for(A_LOOK)

    expect(body(staff_page)).to_contain_text("failed")
