"""Runs from the studio: the draft and parts of it, with given results, watched live."""

from typing import Any

import pytest
from playwright.sync_api import expect

from executions.models import WorkflowExecution
from tests.browser.holding import Held
from tests.browser.pictures import picture
from tests.browser.studio import running as on
from tests.browser.studio.canvas import node
from tests.support.segments import claimed, recorded
from tests.support.workflows import task

pytestmark = pytest.mark.browser


def data(page: Any) -> Any:
    return on.bar(page).get_by_label("Data from")


def shown(page: Any, tab: str) -> None:
    """Open one tab of the selected task's data."""
    panel = page.get_by_role("region", name="Data")
    expect(panel).to_be_visible()
    if panel.get_by_role("button", name="Show data").count():
        panel.get_by_role("button", name="Show data").click()
    panel.get_by_role("tab", name=tab).click()


def output(page: Any, path: str, value: str) -> None:
    """Wait until the inspector shows this value as a task's output."""
    node(page, path).click()
    shown(page, "Output")
    expect(page.get_by_role("region", name="Data").locator(".tree")).to_contain_text(value)


def test_a_draft_is_run_as_a_test_watched_and_there_again_on_opening(
    studio: Any, workflow: Any
) -> None:
    made = workflow(
        "numbers", input={"required": ["n"], "properties": {"n": {"type": "integer"}}}, **on.THREE
    )
    page = studio(made)
    dialog = on.open_run(page)
    dialog.locator(".form input").first.fill("40")
    picture(page, "studio-run-form")
    dialog.get_by_role("button", name="Show as JSON").click()
    expect(dialog.get_by_label("Payload (JSON)")).to_have_value('{\n  "n": 40\n}')
    picture(page, "studio-run-dialog")

    execution = on.start_test(page, made)

    on.run_state(page, "running")
    held = claimed(execution, "first.main")
    expect(node(page, "first")).to_contain_text("running")
    picture(page, "studio-running")
    recorded(held)
    assert on.carry(execution) == "SUCCESS"
    on.run_state(page, "succeeded")
    expect(page.locator("#studio-live")).to_contain_text("The execution succeeded.")
    expect(data(page)).to_have_value(str(execution))
    expect(node(page, "sum")).to_contain_text("succeeded")
    output(page, "sum", "42")
    picture(page, "studio-ran")
    assert WorkflowExecution.objects.get(pk=execution).version.kind == "test"
    made.refresh_from_db()
    assert made.latest_version is None

    with page.expect_response("**/last-results") as told:
        page.reload()

    assert told.value.json()["tasks"]["sum"]["outputs"] == 42
    expect(data(page)).to_have_value(str(execution))
    expect(data(page).locator("option:checked")).to_contain_text("succeeded · test")
    data(page).select_option("")
    expect(data(page)).to_have_value("")


def test_a_double_click_starts_one_which_is_cancelled(studio: Any, workflow: Any) -> None:
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    dialog = on.open_run(page)
    dialog.get_by_role("button", name="Run test").dblclick()
    on.run_state(page, "running")
    assert WorkflowExecution.objects.filter(workflow=made).count() == 1
    on.bar(page).get_by_role("button", name="Cancel…").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel execution").click()
    on.run_state(page, "cancelled")
    expect(on.bar(page).get_by_role("button", name="Cancel…")).to_have_count(0)


def test_a_run_up_to_a_task_ends_there(studio: Any, workflow: Any) -> None:
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    on.open_run(page)
    on.part(page, "upTo", "second")
    on.payload(page, '{"n": 1}')
    execution = on.start_test(page, made)
    assert on.carry(execution) == "SUCCESS"
    assert set(on.steps(execution)) == {"first.main", "second.main"}
    on.run_state(page, "succeeded")


def test_a_run_from_a_task_says_what_must_be_given_and_takes_the_results_on_screen(
    studio: Any, workflow: Any
) -> None:
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    dialog = on.open_run(page)
    on.part(page, "from", "sum")
    expect(
        dialog.get_by_text("Select an execution to reuse the results of earlier tasks")
    ).to_be_visible()
    dialog.get_by_role("button", name="Run test").click()
    refusal = dialog.get_by_role("alert")
    expect(refusal).to_contain_text("The execution did not start.")
    expect(refusal).to_contain_text('"second"')
    picture(page, "studio-run-refused")
    assert not WorkflowExecution.objects.filter(workflow=made).exists()
    on.refused(page, 422)

    dialog.get_by_label("Part", exact=True).select_option("everything")
    on.payload(page, '{"n": 40}')
    assert on.carry(on.start_test(page, made)) == "SUCCESS"
    on.run_state(page, "succeeded")
    expect(page.locator("#studio-live")).to_contain_text("succeeded")

    dialog = on.open_run(page)
    on.part(page, "from", "sum")
    given = dialog.get_by_label("Use the results of the execution")
    expect(given).to_be_checked()
    picture(page, "studio-run-from")
    execution = on.start_test(page, made)

    assert on.carry(execution) == "SUCCESS"
    used = on.modules(execution)
    assert used["second.main"] == "flow.pinned"
    assert used["sum.main"] == "flow.noop"
    on.run_state(page, "succeeded")


def test_a_run_from_a_task_takes_results_that_the_page_does_not_have_yet(
    studio: Any, workflow: Any
) -> None:
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    on.open_run(page)
    on.payload(page, '{"n": 40}')
    results = Held(page, "**/last-results*")
    assert on.carry(on.start_test(page, made)) == "SUCCESS"
    on.run_state(page, "succeeded")
    dialog = on.open_run(page)
    on.part(page, "from", "sum")
    expect(dialog.get_by_label("Use the results of the execution")).to_be_checked()

    with page.expect_response(f"**/v1/Workflow/{made.pk}/test") as sent:
        dialog.get_by_role("button", name="Run test").click()
        results.let_go()

    assert sent.value.status == 202, sent.value.text()
    assert on.modules(sent.value.json()["id"])["second.main"] == "flow.pinned"


def test_the_payload_of_an_earlier_run_is_waited_for_unless_one_types_another(
    studio: Any, workflow: Any
) -> None:
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    dialog = on.open_run(page)
    on.payload(page, '{"n": 40}')
    earlier = on.start_test(page, made)
    on.run_state(page, "running")
    dialog = on.open_run(page)
    source, button = (
        dialog.get_by_label("Copy from"),
        dialog.get_by_role("button", name="Run test"),
    )
    text = dialog.get_by_label("Payload (JSON)")
    text.fill('{"n": 1}')

    fetching = Held(page, f"**/v1/WorkflowExecution/{earlier}")
    source.select_option(str(earlier))
    expect(button).to_have_attribute("aria-disabled", "true")
    fetching.let_go()
    expect(text).to_have_value('{\n  "n": 40\n}')
    expect(button).not_to_have_attribute("aria-disabled", "true")

    source.select_option("sample")
    fetching = Held(page, f"**/v1/WorkflowExecution/{earlier}")
    source.select_option(str(earlier))
    text.fill('{"n": 2}')
    expect(button).not_to_have_attribute("aria-disabled", "true")
    with page.expect_response(f"**/v1/WorkflowExecution/{earlier}") as told:
        fetching.let_go()
    told.value.finished()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    expect(text).to_have_value('{"n": 2}')


def test_a_failing_step_is_shown_mended_and_run_again(studio: Any, workflow: Any) -> None:
    # The quotient of two numbers: division by zero fails.
    divided = task("share") | {"name": "Share", "with": {"value": "{{ 84 / input.by }}"}}
    made = workflow("shares", tasks=[divided])
    page = studio(made)
    on.open_run(page)
    on.payload(page, '{"by": 0}')
    assert on.carry(on.start_test(page, made)) == "FAILED"
    on.run_state(page, "failed")
    expect(page.locator("#studio-live")).to_contain_text("The execution failed. Share dead")
    expect(node(page, "share")).to_contain_text("dead")
    node(page, "share").click()
    shown(page, "Error")
    expect(page.get_by_role("region", name="Data")).to_contain_text("division by zero")
    link = page.get_by_role("link", name="Open this run on the execution's page")
    assert "/change/?run=" in link.get_attribute("href")
    picture(page, "studio-failed")

    on.open_run(page)
    on.payload(page, '{"by": 2}')
    assert on.carry(on.start_test(page, made)) == "SUCCESS"
    on.run_state(page, "succeeded")
    output(page, "share", "42")


def test_a_pinned_task_is_not_run(studio: Any, workflow: Any) -> None:
    failing = task("stock", "flow.fail") | {"name": "Stock", "with": {"message": "No stock"}}
    after = task("told") | {"with": {"value": "{{ tasks.stock.output.left }}"}}
    edges = [{"from": "stock", "to": "told"}]
    made = workflow("stock", tasks=[failing, after], edges=edges)
    page = studio(made)
    node(page, "stock").click()
    shown(page, "Output")
    page.get_by_role("button", name="Pin an output…").click()
    pin = page.get_by_role("dialog")
    pin.get_by_label("Output as JSON").fill('{"left": 7, "hostile": "{{ secrets.key }}"}')
    pin.get_by_role("button", name="Pin", exact=True).click()
    page.reload()
    dialog = on.open_run(page)
    expect(dialog.get_by_role("button", name="Unpin Stock")).to_be_visible()
    picture(page, "studio-run-pinned")

    execution = on.start_test(page, made)

    assert on.carry(execution) == "SUCCESS"
    assert on.modules(execution)["stock.main"] == "flow.pinned"
    on.run_state(page, "succeeded")
    output(page, "told", "7")


def test_a_task_offers_to_run_up_to_it_from_it_and_alone(studio: Any, workflow: Any) -> None:
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    node(page, "second").click()
    menu = page.get_by_role("button", name="Run this task", exact=True)
    for name, kind in (("Run up to here", "upTo"), ("Run from here", "from")):
        menu.click()
        page.get_by_role("menuitem", name=name).click()
        dialog = on.run_dialog(page)
        expect(dialog.get_by_label("Part", exact=True)).to_have_value(kind)
        expect(dialog.get_by_label("Task", exact=True)).to_have_value("second")
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
    menu.click()
    before = page.get_by_role("menuitem", name="Pin all earlier tasks")
    expect(before).to_have_attribute(
        "title", "No execution selected. Select an execution, or run the workflow first."
    )
