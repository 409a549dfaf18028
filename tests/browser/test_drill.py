"""An operator's questions, each answered from the home page in at most four clicks.

`Clicks` counts a user's actions: a click, a key that selects, a typed text. Each station saves a
picture if VALKYR_PICTURES names a folder.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import expect

from executions.database.clock import database_now
from executions.models import (
    Activity,
    CronTick,
    Membership,
    Trigger,
    Workflow,
    WorkflowExecution,
)
from runners.models import Run
from tests.browser.acting import page_action
from tests.browser.clicks import Clicks
from tests.browser.pictures import picture_in_both
from tests.support import admin_rows as rows
from tests.support.schedules import every_hour, scheduled
from tests.support.workflows import publish, task

MOST = 4


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


@pytest.fixture
def home(staff_page: Any, request: pytest.FixtureRequest) -> Iterator[Clicks]:
    """Yield the home page; after the test, check the number of clicks and save a picture of the
    last page.
    """
    clicks = Clicks(staff_page)
    yield clicks
    picture_in_both(staff_page, request.node.name.removeprefix("test_").split("[")[0])
    assert clicks.count <= MOST
    assert clicks.dead_ends == []


def _start(home: Clicks) -> None:
    assert home.page.goto(f"{home.page.home}/admin/").status == 200


def test_why_is_it_stuck(home: Clicks, workflow: Workflow) -> None:
    run = rows.run(rows.execution(workflow), "a.main", "PENDING", queue="gpu", started_at=None)
    Run.objects.filter(pk=run.pk).update(queued_at=database_now() - timedelta(minutes=9))
    _start(home)

    home.click("link", "Executions")
    home.click("link", "Waiting and blocked")

    row = home.page.get_by_role("row", name="Steps that wait for a worker of the queue gpu")
    expect(row).to_contain_text("No worker serves the queue. Start one:")


def test_which_failure_is_worst_and_one_of_it(home: Clicks, workflow: Workflow) -> None:
    entry = rows.failed_order(workflow)
    _start(home)

    home.click("link", "Failures")
    home.press(home.page.locator("#result_list tbody tr th a").first)
    home.press(
        home.page.locator("section", has_text="Newest dead letters").get_by_role("link").first
    )

    expect(home.page.get_by_text(entry.run.error.splitlines()[0]).first).to_be_visible()


def test_an_approval_is_given(home: Clicks) -> None:
    asked = task("ask", "flow.approval", **{"with": {"title": "Send the draft?"}})
    execution = rows.execution(publish({"name": "Draft", "tasks": [asked]}))
    rows.run(
        execution, "ask.main", "WAITING", module="flow.approval", waits_for="approval",
        progress={"title": "Send the draft?"},
    )  # fmt: skip
    _start(home)

    home.click("link", "1 approval waits for a decision")
    home.press(home.page.locator("#result_list tbody tr th a").first)
    home.press(page_action(home.page, "Approve…"))

    dialog = home.page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Approve")).to_be_visible()


def test_which_schedule_did_not_fire(home: Clicks) -> None:
    trigger: Trigger = scheduled(schedule=every_hour())
    CronTick.objects.create(
        trigger=trigger,
        fire_at=database_now() - timedelta(hours=1),
        status="MISSED",
        reason="Missed: no process checked the schedule at that time.",
    )
    _start(home)

    home.click("link", "Schedules")
    home.press(home.page.locator("#result_list tbody tr th a").first)

    latest = home.page.locator("section", has_text="Latest fire times")
    expect(latest).to_contain_text("Missed: no process checked the schedule")


def test_who_changed_what(home: Clicks, workflow: Workflow) -> None:
    Activity.objects.create(
        workspace_id=workflow.workspace_id,
        actor_name="maria",
        action="workflow.publish",
        object_type="Workflow",
        object_id=workflow.pk,
    )
    _start(home)

    home.click("link", "Administration")
    home.press(home.page.locator("a.vk-card", has_text="Activity"))

    expect(home.page.get_by_role("row", name="maria")).to_be_visible()


def test_an_order_is_found_by_its_number(home: Clicks, workflow: Workflow) -> None:
    execution = rows.execution(workflow)
    WorkflowExecution.objects.filter(pk=execution.pk).update(idempotency_key="ORD-1066")
    _start(home)

    home.key("Control+k")
    expect(home.page.get_by_role("combobox", name="Search")).to_be_focused()
    home.type("ORD-1066")
    expect(home.page.get_by_role("listbox").get_by_role("option").first).to_contain_text("ORD-1066")
    home.key("Enter")

    home.page.wait_for_url(f"**/{execution.pk}/change/")


def test_a_members_view_has_nothing_it_may_not_use(
    home: Clicks, django_user_model: Any, workflow: Workflow
) -> None:
    user = django_user_model.objects.create_user("ann", is_staff=True)
    Membership.objects.create(user=user, workspace=workflow.workspace, role="WORKFLOW")
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    home.page.context.add_cookies([{"name": "sessionid", "value": session, "url": home.page.home}])
    _start(home)

    for entry in home.page.locator("#nav-sidebar-apps a").all():
        address = entry.get_attribute("href")
        assert home.page.request.get(f"{home.page.home}{address}").status == 200
