"""Loops, maps, approvals and children as a user sees them, in a real browser."""

from typing import Any

import pytest
from playwright.sync_api import expect

from executions.models import WorkflowExecution
from runners.models import Run
from tests.browser.pictures import picture
from tests.support import admin_rows as rows
from tests.support.workflows import publish, task

LONG = "a-step-with-a-name-that-is-longer-than-any-column-would-like-it-to-be-and-then-some-more"
BODY = {"tasks": [task("pick"), task("pack", after="pick"), task(LONG, after="pack")]}
LOOP = task("refine", "flow.loop", **{"with": {"count": 5}, "body": BODY})
GIVEN = {"items": "{{ input.items }}", "onItemError": "continue"}
BATCH = {"tasks": [task("pick"), LOOP]}
MAP = task("orders", "flow.map", **{"with": GIVEN, "body": BATCH})


def visit(page: Any, execution: WorkflowExecution, query: str = "") -> None:
    address = f"/admin/executions/workflowexecution/{execution.pk}/change/{query}"
    answer = page.goto(f"{page.home}{address}")
    assert answer.status == 200


@pytest.fixture
def loop(staff_page: Any) -> WorkflowExecution:
    """Create a loop in its third iteration of five, after an approval."""
    asked = task("ask", "flow.approval", **{"with": {"title": "?"}})
    execution = rows.execution(publish({"name": "Draft and review", "tasks": [LOOP, asked]}))
    rows.run(
        execution, "refine.main", "WAITING", module="flow.loop", waits_for="body",
        progress={"index": 2, "count": 5},
    )  # fmt: skip
    for index in range(3):
        rows.run(execution, f"refine[{index}].pick.main", "SUCCESS", module="flow.noop")
        if index < 2:
            rows.run(execution, f"refine[{index}].pack.main", "SUCCESS", attempt=2)
            rows.run(execution, f"refine[{index}].{LONG}.main", "SUCCESS")
    rows.run(execution, "refine[2].pack.main", "RUNNING")
    asked = {"title": "Send the draft of chapter 7 to the printer?"}
    rows.run(execution, "ask.main", "WAITING", waits_for="approval", progress=asked)
    return execution


@pytest.fixture
def orders(staff_page: Any) -> WorkflowExecution:
    """Create a map of two hundred items: three failed, two are running and one is dead."""
    execution = rows.execution(publish({"name": "Pack orders", "tasks": [MAP]}))
    progress = {"total": 200, "wide": 10, "next": 200, "open": [7, 150, 199]}
    rows.run(
        execution, "orders.main", "WAITING", module="flow.map", waits_for="body", progress=progress
    )
    for index in range(200):
        state = {3: "FAILED", 30: "FAILED", 90: "FAILED", 7: "DLQ", 150: "RUNNING"}.get(index)
        outcome = "error" if state == "FAILED" else ""
        rows.run(execution, f"orders[{index}].pick.main", state or "SUCCESS", outcome=outcome)
    rows.run(
        execution, "orders[199].refine.main", "WAITING", module="flow.loop", waits_for="body",
        progress={"index": 0, "count": 5},
    )  # fmt: skip
    rows.dead_letter(Run.objects.get(step_path="orders[7].pick.main"))
    rows.run(execution, "orders[199].refine[0].pick.main", "RUNNING")
    return execution


def test_a_loop_is_read_turn_by_turn_with_the_keyboard(
    staff_page: Any, loop: WorkflowExecution
) -> None:
    visit(staff_page, loop)
    picture(staff_page, "loop")

    expect(staff_page.get_by_text("iteration 3 of 5", exact=True)).to_be_visible()
    turn = staff_page.locator("details.vk-turn").first
    inner = turn.get_by_role("link", name="refine[2].pack.main")
    expect(inner).to_be_hidden()
    turn.locator("summary").focus()
    staff_page.keyboard.press("Enter")
    expect(inner).to_be_visible()
    for other in staff_page.locator("details.vk-turn summary").all()[1:]:
        other.click()
    picture(staff_page, "loop-open")


def test_a_map_shows_first_what_needs_a_look(staff_page: Any, orders: WorkflowExecution) -> None:
    visit(staff_page, orders)
    picture(staff_page, "map")

    expect(staff_page.get_by_text("194 of 200 items done, 2 in progress, 3 failed")).to_be_visible()
    names = staff_page.locator(".vk-turn .vk-mono").all_text_contents()
    assert names[:6] == [f"orders[{index}]" for index in (7, 90, 30, 3, 199, 150)]
    assert len(names) == 50
    expect(staff_page.get_by_text("orders[198]", exact=True)).to_be_hidden()
    staff_page.locator("details.vk-turn", has_text="orders[199]").locator("summary").click()
    picture(staff_page, "map-open")
    staff_page.get_by_role("link", name="Show only orders[199]").click()
    expect(staff_page.get_by_role("navigation", name="Location")).to_contain_text("Workflow")
    expect(staff_page.locator("summary", has_text="Iterations: 1")).to_be_in_viewport()
    picture(staff_page, "map-item")
    staff_page.get_by_role("link", name="List all runs", exact=True).click()
    expect(staff_page.locator("#result_list tbody tr")).to_have_count(3)
    picture(staff_page, "map-runs")


def test_an_approval_is_one_click_away(staff_page: Any, loop: WorkflowExecution) -> None:
    visit(staff_page, loop)

    expect(staff_page.get_by_text("Waits for approval: “Send the draft")).to_be_visible()
    staff_page.get_by_role("link", name="Decide").click()

    expect(staff_page.get_by_role("link", name="Approve…").first).to_be_visible()
    picture(staff_page, "approval")


def test_parents_and_children_lead_to_each_other(staff_page: Any) -> None:
    child = publish({"name": "Ship an order", "tasks": [task("a")]})
    call = task("call", "flow.subworkflow", **{"with": {"workflow": child.slug}})
    parent = rows.execution(publish({"name": "Sell", "tasks": [call]}))
    run = rows.run(parent, "call.main", "WAITING", module="flow.subworkflow", waits_for="child")
    made = rows.execution(
        child, parent=parent, parent_run_id=run.pk, depth=1, idempotency_key=f"child:{run.pk}"
    )
    noted = {"executionId": str(made.pk), "workflow": child.slug}
    Run.objects.filter(pk=run.pk).update(progress=noted)
    visit(staff_page, parent)
    picture(staff_page, "parent")

    steps = staff_page.get_by_role("region", name="Steps")
    steps.get_by_role("link", name="Ship an order").click()

    expect(staff_page).to_have_url(f"{staff_page.home}/admin/executions/workflowexecution/"
                                   f"{made.pk}/change/")  # fmt: skip
    expect(staff_page.get_by_text("its parent execution")).to_be_visible()
    picture(staff_page, "child")
    staff_page.get_by_role("link", name="call.main").click()
    expect(staff_page.get_by_text("Waits for its child execution, started")).to_be_visible()
    picture(staff_page, "parent-run")


@pytest.mark.parametrize("width", [1440, 800])
def test_nothing_sticks_out_in_the_dark(
    staff_page: Any, loop: WorkflowExecution, width: int
) -> None:
    staff_page.set_viewport_size({"width": width, "height": 900})
    staff_page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    visit(staff_page, loop)
    for turn in staff_page.locator("details.vk-turn summary").all():
        turn.click()
    picture(staff_page, f"dark-{width}")

    assert staff_page.evaluate("document.body.scrollWidth <= window.innerWidth")
