"""From an execution's page to the studio and back: its data, and a fork with changes."""

from typing import Any

import pytest
from playwright.sync_api import expect

from executions.models import WorkflowExecution
from executions.publishing import versioning
from tests.browser.pictures import picture
from tests.browser.studio import running as on
from tests.browser.studio.canvas import node
from tests.support.workflows import ACTOR, start

pytestmark = pytest.mark.browser


@pytest.fixture
def ran(workflow: Any) -> Any:
    """Publish a workflow, and run an execution of it to its end; return both."""
    made = workflow("numbers", **on.THREE)
    versioning.publish(made.pk, actor=ACTOR)
    made.refresh_from_db()
    execution = start(made, {"n": 40})
    assert on.carry(execution) == "SUCCESS"
    return made, execution


def monitor(page: Any, execution: Any, query: str = "") -> None:
    page.goto(f"{page.home}/admin/executions/workflowexecution/{execution}/change/{query}")
    expect(page.locator("#monitor")).to_have_attribute("data-ready", "yes")


def test_an_execution_opens_with_its_data_and_leads_back(staff_page: Any, ran: Any) -> None:
    _, execution = ran
    monitor(staff_page, execution)
    staff_page.get_by_role("link", name="Open in studio").click()
    expect(staff_page.get_by_label("Data from")).to_have_value(str(execution))
    expect(node(staff_page, "sum")).to_contain_text("succeeded")
    expect(staff_page.get_by_text("This execution used version")).to_have_count(0)
    staff_page.get_by_role("link", name="Open execution page").click()
    expect(staff_page.locator("#monitor")).to_have_attribute("data-ready", "yes")
    assert f"/{execution}/change/" in staff_page.url


def test_of_another_version_than_the_draft_it_says_so(staff_page: Any, ran: Any) -> None:
    made, execution = ran
    other = on.THREE["tasks"][:2]
    definition = made.definition | {"tasks": other, "edges": on.THREE["edges"][:1]}
    changes = {"definition": definition}
    versioning.update_workflow(made.pk, changes, actor=ACTOR, expected_revision=None)
    staff_page.goto(f"{staff_page.home}/studio/{made.pk}/?execution={execution}")
    expect(staff_page.get_by_text("This execution used version 1")).to_be_visible()
    picture(staff_page, "studio-other-version")
    staff_page.get_by_role("button", name="Hide this note").click()
    expect(staff_page.get_by_text("This execution used version 1")).to_have_count(0)


def test_a_fork_with_changes_is_tried_then_published(staff_page: Any, ran: Any) -> None:
    made, execution = ran
    monitor(staff_page, execution)
    staff_page.get_by_role("table", name="Runs").get_by_role(
        "button", name="sum, attempt 1"
    ).click()
    staff_page.get_by_role("link", name="Fork with changes in the studio").click()
    bar = on.bar(staff_page)
    expect(bar.get_by_text("continue from sum.main")).to_be_visible()
    expect(node(staff_page, "sum")).to_contain_text("succeeded")
    picture(staff_page, "studio-fork")

    staff_page.get_by_label("Name", exact=True).fill("Sum of both")
    bar.get_by_role("button", name="Test from here…").click()
    dialog = on.run_dialog(staff_page)
    expect(dialog.get_by_label("Task", exact=True)).to_have_value("sum")
    expect(dialog.get_by_label("Payload (JSON)")).to_have_value('{\n  "n": 40\n}')
    tried = on.start_test(staff_page, made)
    assert on.carry(tried) == "SUCCESS"
    assert on.modules(tried)["first.main"] == "flow.pinned"

    bar.get_by_role("button", name="Publish and fork…").click()
    with staff_page.expect_response(f"**/{execution}/fork") as forked:
        staff_page.get_by_role("dialog").get_by_role("button", name="Publish and fork").click()
    fork = WorkflowExecution.objects.get(pk=forked.value.json()["id"])
    assert fork.origin_id == execution
    assert fork.version.kind == "published"
    expect(staff_page.get_by_label("Data from")).to_have_value(str(fork.pk))
    expect(bar.get_by_text("continue from")).to_have_count(0)
    assert "fork=" not in staff_page.url
