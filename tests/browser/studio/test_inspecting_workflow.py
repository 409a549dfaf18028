"""The details of the workflow, of edges and of notes, which all users can read."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pictures import picture, picture_in_both
from tests.browser.studio.inspecting import details, field, saved, select
from tests.support.accessibility import findings_in_both

pytestmark = pytest.mark.browser

TASKS = [
    {
        "id": "ask",
        "use": "flow.if",
        "with": {"condition": "{{ vars.carrier == 'dhl' }}"},
        "ui": {"x": 0, "y": 0},
    },
    {"id": "ship", "use": "flow.noop", "with": {}, "ui": {"x": 340, "y": 0}},
]
GRAPH = {
    "tasks": TASKS,
    "edges": [{"from": "ask", "to": "ship", "on": "true"}],
    "variables": {"carrier": "dhl"},
}


def test_payload_variables_and_settings_are_built_without_json(studio: Any, workflow: Any) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    panel = details(page)
    panel.get_by_role("tab", name="Input").click()
    panel.get_by_role("button", name="Add a field").click()
    panel.get_by_label("Name", exact=True).fill("orderId")
    panel.get_by_label("Type", exact=True).select_option("Whole number")
    panel.get_by_label("Required").check()
    panel.get_by_role("tab", name="Variables").click()
    expect(panel.get_by_role("button", name="ask", exact=True)).to_be_visible()
    panel.get_by_role("button", name="Add to variables").click()
    panel.get_by_label("Name 2 of Variables").fill("tries")
    panel.get_by_label("Type of Value of tries").select_option("Number")
    panel.get_by_label("Value of tries", exact=True).fill("3")
    panel.get_by_role("tab", name="Settings").click()
    field(page, "settings/priority").get_by_role("textbox").fill("7")
    panel.get_by_role("button", name="Add concurrency").click()
    field(page, "settings/concurrency/key").get_by_role("combobox").fill("{{ input.orderId }}")
    panel.get_by_role("button", name="Add to labels").click()
    panel.get_by_label("Name 1 of Labels").fill("order")
    field(page, "labels/order").get_by_role("combobox").fill("{{ input.orderId }}")
    definition = saved(page, stored)
    assert definition["labels"] == {"order": "{{ input.orderId }}"}
    assert definition["input"] == {
        "type": "object",
        "properties": {"orderId": {"type": "integer"}},
        "required": ["orderId"],
    }
    assert definition["variables"] == {"carrier": "dhl", "tries": 3}
    assert definition["settings"] == {
        "priority": 7,
        "concurrency": {"key": "{{ input.orderId }}"},
    }


def test_triggers_are_added_said_in_words_and_removed(studio: Any, workflow: Any) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    panel = details(page)
    panel.get_by_role("tab", name="Triggers").click()
    panel.get_by_role("button", name="Schedule", exact=True).click()
    field(page, "triggers/0/schedule").get_by_role("textbox").fill("30 6 * * 1-5")
    expect(panel.get_by_text("Monday to Friday at 06:30")).to_be_visible()
    field(page, "triggers/0/timezone").get_by_role("textbox").fill("Europe/Berlin")
    panel.get_by_role("button", name="Webhook").click()
    panel.get_by_role("button", name="Event", exact=True).click()
    field(page, "triggers/2/event").get_by_role("combobox").fill("order.paid")
    picture(page, "studio-triggers")
    panel.get_by_role("button", name="Remove trigger 2").click()
    assert saved(page, stored)["triggers"] == [
        {"type": "CRON", "schedule": "30 6 * * 1-5", "timezone": "Europe/Berlin"},
        {"type": "EVENT", "event": "order.paid"},
    ]


def test_an_edge_gets_another_outcome(studio: Any, workflow: Any) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    edge = page.locator(".react-flow__edge").first
    edge.focus()
    edge.press("Enter")
    panel = details(page)
    panel.get_by_label("Outcome").select_option("false")
    assert saved(page, stored)["edges"] == [{"from": "ask", "to": "ship", "on": "false"}]
    panel.get_by_role("button", name="Delete the edge").click()
    assert saved(page, stored)["edges"] == []


def test_several_tasks_are_counted_duplicated_and_deleted(studio: Any, workflow: Any) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    select(page, "ask")
    page.keyboard.press("Escape")
    page.locator('.react-flow__node[data-id="ship"]').focus()
    page.keyboard.press("Control+a")
    panel = details(page)
    expect(panel.get_by_role("heading", name="2 tasks")).to_be_visible()
    panel.get_by_role("button", name="Duplicate").click()
    assert len(saved(page, stored)["tasks"]) == 4
    panel.get_by_role("button", name="Delete", exact=True).click()
    assert [one["id"] for one in saved(page, stored)["tasks"]] == ["ask", "ship"]


def test_a_note_gets_text_and_colour(studio: Any, workflow: Any) -> None:
    note = {"id": "n", "x": 0, "y": 200, "w": 200, "h": 100, "text": "old", "color": "blue"}
    stored = workflow(**GRAPH, ui={"notes": [note]})
    page = studio(stored)
    page.get_by_role("group", name="Note: old").click(position={"x": 20, "y": 80})
    panel = details(page)
    panel.get_by_label("Text").fill("new")
    panel.get_by_label("Green").check()
    assert saved(page, stored)["ui"]["notes"] == [note | {"text": "new", "color": "green"}]


def test_every_panel_can_be_read_by_everybody(studio: Any, workflow: Any) -> None:
    stored = workflow(**GRAPH, triggers=[{"type": "CRON", "schedule": "0 8 * * *"}])
    page = studio(stored)
    panel = details(page)
    wrong: list[str] = []
    for tab in ("General", "Input", "Variables", "Triggers", "Settings"):
        panel.get_by_role("tab", name=tab).click()
        wrong += findings_in_both(page, ".inspector")
    select(page, "ask")
    panel.get_by_role("button", name="Show data").click()
    for tab in ("Parameters", "Settings", "About"):
        panel.get_by_role("tab", name=tab).click()
        wrong += findings_in_both(page, ".inspector")
        picture_in_both(page, f"studio-{tab}")
    assert wrong == []


def test_who_may_only_look_sees_the_same_and_changes_nothing(
    studio: Any, workflow: Any, django_user_model: Any
) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    page.route(
        f"**/studio/{stored.pk}/",
        lambda route: route.fulfill(
            response=(found := route.fetch()),
            body=found.text().replace('data-can-edit="true"', 'data-can-edit="false"'),
        ),
    )
    page.reload()
    form = select(page, "ask")
    expect(form.get_by_label("Name", exact=True)).to_have_attribute("readonly", "")
    expect(form.get_by_role("button", name="Condition as an expression")).to_have_count(0)
    expect(page.get_by_role("status", name="Draft")).to_contain_text("saved")


def test_a_schedule_shows_when_it_fires_next_in_its_own_zone(studio: Any, workflow: Any) -> None:
    daily = {"type": "CRON", "schedule": "0 8 * * *", "timezone": "Asia/Tokyo"}
    page = studio(workflow(**GRAPH, triggers=[daily]))
    panel = details(page)
    panel.get_by_role("tab", name="Triggers").click()
    times = panel.locator(".next-times").get_by_role("listitem")
    expect(times).to_have_count(5)
    expect(times.first).to_contain_text("08:00 AM GMT+9")
    field(page, "triggers/0/schedule").get_by_role("textbox").fill("30 6 * * *")
    expect(times.first).to_contain_text("06:30 AM GMT+9")
    picture(page, "studio-next-times")
    field(page, "triggers/0/schedule").get_by_role("textbox").fill("61 * * * *")
    expect(times).to_have_count(0)
