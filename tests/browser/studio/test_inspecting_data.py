"""The last run's results next to the form: viewed, written into fields, and pinned."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.holding import Held
from tests.browser.pictures import picture
from tests.browser.studio import running as on
from tests.browser.studio.inspecting import details, field, select
from tests.support.accessibility import findings

pytestmark = pytest.mark.browser


@pytest.fixture
def ran(studio: Any, workflow: Any) -> Any:
    """Open the editor of a workflow that ran once, select its sum and show its data."""
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    on.open_run(page)
    on.payload(page, '{"n": 40, "list": [{"id": 7}]}')
    execution = on.start_test(page, made)
    assert on.carry(execution) == "SUCCESS"
    on.run_state(page, "succeeded")
    select(page, "sum")
    details(page).get_by_role("button", name="Show data").click()
    return page


def test_the_last_data_is_written_into_the_field_used_last(ran: Any) -> None:
    panel = details(ran)
    text = field(ran, "with/value").get_by_role("combobox", name="Value", exact=True)
    text.fill("")
    panel.get_by_role("button", name="Expand tasks").click()
    panel.get_by_role("button", name="Expand tasks.first").click()
    panel.get_by_role("button", name="Insert tasks.first.output").click()
    expect(text).to_have_value("{{ tasks.first.output }}")
    expect(panel.get_by_text("With the displayed execution's data: 40")).to_be_visible()
    text.fill("")
    text.press_sequentially("{{ input.")
    option = ran.get_by_role("option", name="n 40")
    expect(option).to_be_visible()
    assert findings(ran, ".inspector") == []
    picture(ran, "studio-data")


def test_a_pin_that_is_typed_stays_though_the_whole_output_comes_later(
    studio: Any, workflow: Any
) -> None:
    large = {"id": "large", "use": "data.set", "with": {"values": {"x": "y" * 20_000}}}
    made = workflow("large", tasks=[large])
    page = studio(made)
    on.open_run(page)
    assert on.carry(on.start_test(page, made)) == "SUCCESS"
    on.run_state(page, "succeeded")
    panel = select(page, "large")
    panel.get_by_role("button", name="Show data").click()
    panel.get_by_role("tab", name="Output").click()
    expect(panel.get_by_text("Too large to show.")).to_be_visible()
    fetching = Held(page, "**/v1/Run/*")
    panel.get_by_role("button", name="Pin an output…").click()
    text = page.get_by_role("dialog").get_by_role("textbox", name="Output as JSON")
    text.fill('"short"')

    with page.expect_response("**/v1/Run/*") as told:
        fetching.let_go()
    told.value.finished()
    page.evaluate("() => new Promise(requestAnimationFrame)")

    expect(text).to_have_value('"short"')


def test_an_output_is_looked_at_and_pinned_for_test_runs(ran: Any) -> None:
    panel = details(ran)
    panel.get_by_role("tab", name="Output").click()
    tree = panel.get_by_role("button", name="Insert tasks.sum.output")
    expect(tree).to_be_visible()
    expect(panel.get_by_role("tabpanel", name="Output").get_by_text("42")).to_be_visible()
    panel.get_by_role("button", name="Pin an output…").click()
    dialog = ran.get_by_role("dialog", name="Pinned output of sum")
    dialog.get_by_role("textbox", name="Output as JSON").fill("43")
    dialog.get_by_role("button", name="Pin", exact=True).click()
    expect(panel.get_by_text("Test runs use the pinned output.")).to_be_visible()
    panel.get_by_role("button", name="Unpin").click()
    expect(panel.get_by_role("button", name="Pin an output…")).to_be_visible()


def test_filters_are_previewed_as_the_engine_evaluates_them(ran: Any) -> None:
    panel = details(ran)
    text = field(ran, "with/value").get_by_role("combobox", name="Value", exact=True)
    text.fill("{{ (tasks.first.output + 2) | string | center(6) | replace(' ', '*') }}")
    expect(panel.get_by_text("With the displayed execution's data: **42**")).to_be_visible()
    text.fill("{{ input.list | map(attribute='id') | list }}")
    expect(panel.get_by_text("With the displayed execution's data: [7]")).to_be_visible()
    picture(ran, "studio-preview")
    text.fill("{{ input.list | map(attribute='id') | uper }}")
    expect(panel.get_by_text('No preview: there is no filter "uper"')).to_be_visible()
    text.fill("{{ input.nope | upper }}")
    expect(panel.get_by_text('the value has no key "nope"; it has "n", "list"')).to_be_visible()
    picture(ran, "studio-preview-error")
    assert findings(ran, ".inspector") == []


def test_a_pinned_output_is_what_the_preview_reads(ran: Any) -> None:
    panel = select(ran, "second")
    panel.get_by_role("tab", name="Output").click()
    panel.get_by_role("button", name="Pin an output…").click()
    dialog = ran.get_by_role("dialog", name="Pinned output of second")
    dialog.get_by_role("textbox", name="Output as JSON").fill("100")
    dialog.get_by_role("button", name="Pin", exact=True).click()
    select(ran, "sum")
    text = field(ran, "with/value").get_by_role("combobox", name="Value", exact=True)
    text.fill("{{ tasks.first.output + tasks.second.output }}")
    expect(panel.get_by_text("With the displayed execution's data: 140")).to_be_visible()


def test_what_did_not_run_has_no_preview(studio: Any, workflow: Any) -> None:
    page = studio(workflow("numbers", **on.THREE))
    select(page, "sum")
    text = field(page, "with/value").get_by_role("combobox", name="Value", exact=True)
    with page.expect_response("**/evaluate") as asked:
        text.fill("{{ 6 * 7 }}")
    assert asked.value.json()["value"] == 42
    expect(details(page).get_by_text("Preview: 42")).to_be_visible()
    text.fill("{{ tasks.first.output + 1 }}")
    expect(details(page).locator(".last-value")).to_have_count(0)
