"""Running from the studio: the draft and parts of it, with given results, watched as it goes."""

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from executions.models import WorkflowExecution
from tests.browser.pictures import picture
from tests.browser.studio import running as on
from tests.support.segments import claimed, recorded
from tests.support.workflows import task

pytestmark = pytest.mark.browser


def data(page: Any) -> Any:
    return on.bar(page).get_by_label("Data from")


def test_a_draft_is_run_as_a_test_and_watched(studio: Any, workflow: Any) -> None:
    made = workflow(
        "numbers", input={"required": ["n"], "properties": {"n": {"minimum": 5}}}, **on.THREE
    )
    page = studio(made)
    dialog = on.open_run(page)
    expect(dialog.get_by_label("Payload (JSON)")).to_have_value('{\n  "n": {}\n}')
    on.payload(page, '{"n": 40}')
    picture(page, "studio-run-dialog")

    execution = on.start_test(page, made)

    on.run_state(page, "running")
    held = claimed(execution, "first.main")
    picture(page, "studio-running")
    recorded(held)
    assert on.carry(execution) == "SUCCESS"
    on.run_state(page, "succeeded")
    expect(page.locator("#studio-live")).to_contain_text("The run succeeded.")
    expect(data(page)).to_have_value(str(execution))
    assert WorkflowExecution.objects.get(pk=execution).version.kind == "test"
    made.refresh_from_db()
    assert made.latest_version is None


def test_results_of_the_newest_run_are_there_on_opening(studio: Any, workflow: Any) -> None:
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    on.open_run(page)
    on.payload(page, '{"n": 40}')
    execution = on.start_test(page, made)
    assert on.carry(execution) == "SUCCESS"
    on.run_state(page, "succeeded")

    with page.expect_response("**/last-results") as told:
        page.reload()

    assert told.value.json()["tasks"]["sum"]["outputs"] == 42
    expect(data(page)).to_have_value(str(execution))
    expect(data(page).locator("option:checked")).to_contain_text("succeeded · test")
    data(page).select_option("")
    expect(data(page)).to_have_value("")


def test_a_double_click_starts_one(studio: Any, workflow: Any) -> None:
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    dialog = on.open_run(page)
    dialog.get_by_role("button", name="Run test").dblclick()
    on.run_state(page, "running")
    assert WorkflowExecution.objects.filter(workflow=made).count() == 1


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


def test_a_run_from_a_task_takes_the_results_on_screen(studio: Any, workflow: Any) -> None:
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    on.open_run(page)
    on.payload(page, '{"n": 40}')
    assert on.carry(on.start_test(page, made)) == "SUCCESS"
    on.run_state(page, "succeeded")
    expect(page.locator("#studio-live")).to_contain_text("succeeded")

    dialog = on.open_run(page)
    on.part(page, "from", "sum")
    given = dialog.get_by_label("The tasks before have the results of the run")
    expect(given).to_be_checked()
    picture(page, "studio-run-from")
    execution = on.start_test(page, made)

    assert on.carry(execution) == "SUCCESS"
    used = on.modules(execution)
    assert used["second.main"] == "flow.pinned"
    assert used["sum.main"] == "flow.noop"
    on.run_state(page, "succeeded")


def test_a_run_from_a_task_says_what_must_be_given(studio: Any, workflow: Any) -> None:
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    dialog = on.open_run(page)
    on.part(page, "from", "sum")
    expect(dialog.get_by_text("No run is shown whose results")).to_be_visible()
    dialog.get_by_role("button", name="Run test").click()
    refusal = dialog.get_by_role("alert")
    expect(refusal).to_contain_text("Nothing was started.")
    expect(refusal).to_contain_text('"second"')
    picture(page, "studio-run-refused")
    assert not WorkflowExecution.objects.filter(workflow=made).exists()
    on.refused(page, 422)


def test_a_failing_step_is_shown_mended_and_run_again(studio: Any, workflow: Any) -> None:
    broken = task("check", "flow.fail") | {"name": "Check", "with": {"message": "No stock"}}
    made = workflow("check", tasks=[broken])
    page = studio(made)
    on.open_run(page)
    assert on.carry(on.start_test(page, made)) == "FAILED"
    on.run_state(page, "failed")
    expect(page.locator("#studio-live")).to_contain_text("Check")

    page.evaluate("0")
    with page.expect_response(f"**/v1/Workflow/{made.pk}/test") as sent:
        on.open_run(page)
        on.run_dialog(page).get_by_role("button", name="Run test").click()
    assert json.loads(sent.value.request.post_data)["definition"]["tasks"][0]["use"] == "flow.fail"


def test_a_watched_run_is_cancelled(studio: Any, workflow: Any) -> None:
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    on.open_run(page)
    on.start_test(page, made)
    on.run_state(page, "running")
    on.bar(page).get_by_role("button", name="Cancel…").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the run").click()
    on.run_state(page, "cancelled")
    expect(on.bar(page).get_by_role("button", name="Cancel…")).to_have_count(0)
