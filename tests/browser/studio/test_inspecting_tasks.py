"""The details of a task: its names, its form, its modules, its settings, its last data."""

import json
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pictures import picture
from tests.browser.studio.inspecting import details, field, saved, select, task

pytestmark = pytest.mark.browser

FETCH = {
    "id": "fetch",
    "name": "Fetch order",
    "use": "http.request",
    "with": {"url": "https://api.example.com/orders"},
    "ui": {"x": 0, "y": 0},
}
NOTE = {
    "id": "note",
    "use": "data.set",
    "with": {"values": {"total": "{{ tasks.fetch.output.body.total }}"}},
    "ui": {"x": 320, "y": 0},
}
INPUT = {"type": "object", "properties": {"orderId": {"type": "integer"}}}
GRAPH = {"tasks": [FETCH, NOTE], "edges": [{"from": "fetch", "to": "note"}], "input": INPUT}


def test_each_kind_of_field_writes_what_its_schema_asks_for(studio: Any, workflow: Any) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    form = select(page, "fetch")
    field(page, "with/url").get_by_role("combobox").fill("https://shop.example.com")
    field(page, "with/timeoutSeconds").get_by_role("textbox").fill("2.5")
    field(page, "with/method").get_by_role("combobox").select_option("POST")
    field(page, "with/followRedirects").get_by_role("checkbox").uncheck()
    form.get_by_role("button", name="Add to headers").click()
    form.get_by_label("Name 1 of Headers").fill("X-Shop")
    form.get_by_label("Value of X-Shop", exact=True).fill("7")
    form.get_by_role("button", name="Add to accept status").click()
    form.get_by_label("Type of Item 1").select_option("Number")
    form.get_by_label("Item 1", exact=True).fill("404")
    field(page, "with/json").get_by_role("button", name="JSON as JSON").click()
    field(page, "with/json").get_by_role("textbox").fill('{"id": [1, true]}')
    assert task(saved(page, stored), "fetch")["with"] == {
        "url": "https://shop.example.com",
        "timeoutSeconds": 2.5,
        "method": "POST",
        "followRedirects": False,
        "headers": {"X-Shop": "7"},
        "acceptStatus": [404],
        "json": {"id": [1, True]},
    }
    picture(page, "studio-form")


def test_a_number_may_be_an_expression_and_wrong_numbers_and_json_change_nothing(
    studio: Any, workflow: Any
) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    form = select(page, "fetch")
    number = field(page, "with/timeoutSeconds")
    number.get_by_role("textbox").fill("soon")
    expect(number.get_by_text('"soon" is not a number')).to_be_visible()
    number.get_by_role("textbox").fill("5")
    form.get_by_role("button", name="Timeout seconds as an expression").click()
    expect(number.get_by_role("combobox")).to_have_value("{{ 5 }}")
    number.get_by_role("combobox").fill("{{ input.orderId }}")
    assert task(saved(page, stored), "fetch")["with"]["timeoutSeconds"] == "{{ input.orderId }}"

    form.get_by_role("button", name="Show all parameters as JSON").click()
    text = form.get_by_role("textbox", name="Parameters as JSON")
    text.fill('{\n  "url": }')
    expect(form.get_by_text("Line 2, column 10: expected a value")).to_be_visible()
    expect(page.get_by_role("status", name="Draft")).to_contain_text("saved")
    text.fill('{"url": "https://b.example.com"}')
    assert task(saved(page, stored), "fetch")["with"] == {"url": "https://b.example.com"}


def test_a_new_id_is_followed_and_offered_where_templates_are_completed_by_keyboard(
    studio: Any, workflow: Any
) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    form = select(page, "fetch")
    form.get_by_label("ID", exact=True).fill("load order")
    form.get_by_label("ID", exact=True).press("Enter")
    expect(form.get_by_label("ID", exact=True)).to_have_value("load_order")
    expect(form.get_by_label("ID", exact=True)).to_be_focused()
    definition = saved(page, stored)
    assert definition["edges"] == [{"from": "load_order", "to": "note"}]
    values = task(definition, "note")["with"]["values"]
    assert values == {"total": "{{ tasks.load_order.output.body.total }}"}

    select(page, "note")
    text = details(page).get_by_label("Value of total", exact=True)
    text.fill("")
    text.press("Control+ ")
    listed = page.get_by_role("listbox", name="Suggestions")
    expect(listed.get_by_role("option", name="input")).to_be_visible()
    text.press("Escape")
    expect(listed).to_be_hidden()
    expect(text).to_be_focused()
    text.press_sequentially("ta")
    expect(listed.get_by_role("option")).to_have_count(1)
    text.press("Enter")
    text.press_sequentially(".lo")
    text.press("Enter")
    text.press_sequentially(".")
    expect(listed.get_by_role("option", selected=True)).to_contain_text("output")
    text.press("ArrowDown")
    expect(listed.get_by_role("option", selected=True)).to_contain_text("outcome")
    picture(page, "studio-completion")
    text.press("Enter")
    expect(text).to_have_value("{{ tasks.load_order.outcome }}")
    values = task(saved(page, stored), "note")["with"]["values"]
    assert values == {"total": "{{ tasks.load_order.outcome }}"}


def test_a_chain_grows_and_becomes_short_again_and_how_the_task_runs_is_set(
    studio: Any, workflow: Any
) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    form = select(page, "fetch")
    form.get_by_label("Add a module to the chain").select_option("data.jmespath")
    expect(field(page, "modules/1/with/expression")).to_be_visible()
    chain = [one["use"] for one in task(saved(page, stored), "fetch")["modules"]]
    assert chain == ["http.request", "data.jmespath"]
    text = field(page, "modules/1/with/expression").get_by_role("combobox")
    text.fill("")
    text.press_sequentially("{{ prev")
    text.press("Enter")
    expect(text).to_have_value("{{ previous }}")
    form.get_by_role("button", name="Move jmespath up").click()
    form.get_by_role("button", name="Remove jmespath").click()
    assert task(saved(page, stored), "fetch") == {k: v for k, v in FETCH.items() if k != "ui"}

    # In addition to the defaults of its module.
    form.get_by_role("tab", name="Settings").click()
    seconds = field(page, "timeoutSeconds").get_by_role("textbox")
    expect(seconds).to_have_attribute("placeholder", "60")
    seconds.fill("20")
    form.get_by_label("Type of Retry").select_option("Fields")
    field(page, "retry/maxAttempts").get_by_role("textbox").fill("4")
    form.get_by_role("button", name="Add cache").click()
    field(page, "cache/ttlSeconds").get_by_role("textbox").fill("60")
    field(page, "join").get_by_role("combobox").select_option("all")
    expect(form.get_by_text("To continue instead, connect")).to_be_visible()
    found = task(saved(page, stored), "fetch")
    assert found["timeoutSeconds"] == 20
    assert found["retry"] == {"maxAttempts": 4}
    assert found["cache"] == {"ttlSeconds": 60}
    assert found["join"] == "all"


def test_the_width_is_kept_typing_is_one_step_back_and_what_is_wrong_is_said(
    studio: Any, workflow: Any
) -> None:
    page = studio(workflow(**GRAPH))
    edge = page.get_by_role("separator", name="Width of the details")
    edge.press("ArrowLeft")
    edge.press("ArrowLeft")
    expect(edge).to_have_attribute("aria-valuenow", "380")
    page.reload()
    expect(edge).to_have_attribute("aria-valuenow", "380")

    select(page, "fetch")
    name = details(page).get_by_label("Name", exact=True)
    name.press("End")
    name.press_sequentially(" twice")
    page.get_by_role("banner").get_by_role("button", name="Undo").click()
    expect(name).to_have_value("Fetch order")
    expect(page.get_by_role("status", name="Draft")).to_contain_text("saved")

    url = field(page, "with/url").get_by_role("combobox")
    url.fill("")
    expect(url).to_have_attribute("aria-invalid", "true")
    expect(details(page).get_by_role("tab", name="Parameters 1")).to_be_visible()
    described = url.get_attribute("aria-describedby")
    expect(page.locator(f'[id="{described}"]')).to_contain_text("error")


def test_a_large_text_is_kept_though_one_goes_on_at_once(studio: Any, workflow: Any) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    large = "x" * 30_000
    select(page, "fetch").get_by_role("button", name="Show all parameters as JSON").click()
    details(page).get_by_label("Parameters as JSON").fill(json.dumps({"url": large}))

    select(page, "note")

    assert task(saved(page, stored), "fetch")["with"] == {"url": large}


def test_an_unknown_module_keeps_its_parameters(studio: Any, workflow: Any) -> None:
    gone = {"id": "gone", "use": "acme.step", "with": {"a": [1]}, "ui": {"x": 0, "y": 0}}
    stored = workflow(tasks=[gone])
    page = studio(stored)
    form = select(page, "gone")
    expect(form.get_by_text('The module "acme.step" is not installed')).to_be_visible()
    text = form.get_by_role("textbox", name="Parameters as JSON")
    expect(text).to_have_value('{\n  "a": [\n    1\n  ]\n}')
    text.fill('{"a": 2}')
    assert task(saved(page, stored), "gone")["with"] == {"a": 2}


def test_an_undo_step_is_added_filled_in_and_removed(studio: Any, workflow: Any) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    form = select(page, "fetch")
    form.get_by_role("tab", name="Undo").click()
    form.get_by_label("Module that undoes the task").select_option("http.request")
    address = "https://api.example.com/{{ tasks.fetch.output.body.id }}"
    field(page, "undo/with/url").get_by_role("combobox").fill(address)
    field(page, "undo/timeoutSeconds").get_by_role("textbox").fill("9")
    undo = task(saved(page, stored), "fetch")["undo"]
    assert undo == {"use": "http.request", "with": {"url": address}, "timeoutSeconds": 9}
    card = page.locator('.react-flow__node[data-id="fetch"]')
    expect(card.get_by_title("Undone by http.request")).to_be_visible()

    form.get_by_role("button", name="Remove undo step").click()
    assert "undo" not in task(saved(page, stored), "fetch")
    expect(card.get_by_title("Undone by http.request")).to_have_count(0)
