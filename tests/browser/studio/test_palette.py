"""The palette and the list of tasks: by mouse, by keyboard, on narrow screens."""

import re
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import expect

from executions.models import Membership
from tests.browser.pictures import picture_in_both
from tests.support.accessibility import findings_in_both
from tests.support.sharing import assign_perm

pytestmark = pytest.mark.browser

CHAIN: dict[str, Any] = {
    "tasks": [
        {"id": "fetch", "name": "Fetch order", "use": "data.set", "with": {"values": {}}},
        {"id": "risky", "use": "flow.if", "with": {"condition": "{{ input.total > 1000 }}"}},
        {
            "id": "refine",
            "use": "flow.loop",
            "with": {"count": 3},
            "body": {"tasks": [{"id": "draft", "use": "data.set", "with": {"values": {}}}]},
        },
    ],
    "edges": [{"from": "fetch", "to": "risky"}, {"from": "risky", "to": "refine", "on": "true"}],
}

SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def listed(page: Any) -> Any:
    """Open the list of tasks by its button, and return it."""
    page.get_by_role("button", name="List", exact=True).click()
    return page.get_by_role("region", name="Tasks")


def row(page: Any, name: str) -> Any:
    return page.get_by_role("row", name=re.compile(f"^{name}"))


def signed_in(page: Any, user: Any) -> None:
    """Sign the page in as this user."""
    client = Client()
    client.force_login(user)
    value = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": value, "url": page.home}])


def test_a_click_adds_behind_what_is_selected(studio: Any, workflow: Any) -> None:
    page = studio(workflow())
    modules = page.get_by_role("complementary", name="Modules")
    modules.get_by_role("button", name="Set values", exact=True).click()
    expect(modules.get_by_text("After set")).to_be_visible()
    modules.get_by_role("button", name="If", exact=True).click()
    listed(page)
    expect(row(page, "if")).to_contain_text("set")
    expect(page.get_by_role("status", name="Draft")).to_contain_text("unsaved")


def test_the_search_is_reached_found_in_and_added_from_by_keys(studio: Any, workflow: Any) -> None:
    page = studio(workflow())
    search = page.get_by_role("searchbox", name="Search modules")
    search.fill("qqqq")
    expect(page.get_by_text("No module matches “qqqq”.")).to_be_visible()
    page.get_by_role("button", name="Clear the search").click()
    expect(page.get_by_role("button", name="HTTP request", exact=True)).to_be_visible()
    search.focus()
    page.keyboard.type("http.request")
    found = page.get_by_role("list", name="Search results").get_by_role("button")
    expect(found).to_have_text([re.compile("HTTP request")])
    page.keyboard.press("ArrowDown")
    expect(found).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(search).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    expect(search).to_have_value("")
    expect(page.get_by_role("list", name="Recently used").get_by_role("button")).to_have_count(1)
    listed(page)
    expect(row(page, "request")).to_be_visible()


def test_what_is_typed_after_the_slash_goes_into_the_search(studio: Any, workflow: Any) -> None:
    page = studio(workflow())
    page.evaluate("() => { window.requestAnimationFrame = () => 0 }")  # no frame comes in time

    page.keyboard.press("/")
    page.keyboard.type("note")

    expect(page.get_by_role("searchbox", name="Search modules")).to_have_value("note")
    expect(page.get_by_role("textbox", name="Text of the note")).to_have_count(0)


def test_a_module_goes_into_the_selected_container(studio: Any, workflow: Any) -> None:
    page = studio(workflow(**CHAIN))
    tasks = listed(page)
    tasks.get_by_role("button", name="refine", exact=True).click()
    modules = page.get_by_role("complementary", name="Modules")
    expect(modules.get_by_text("Into refine, after refine.draft")).to_be_visible()
    modules.get_by_role("button", name="Sort", exact=True).click()
    expect(tasks.get_by_role("button", name="sort, in refine")).to_be_focused()


def test_three_tasks_are_built_in_the_list_by_keys_alone(studio: Any, workflow: Any) -> None:
    made = workflow()
    page = studio(made)
    tasks = listed(page)
    for words, name in [("http req", "request"), ("if", "if"), ("slack", "post")]:
        tasks.get_by_role("button", name="Add a task").press("Enter")
        expect(page.get_by_role("searchbox", name="Search modules")).to_be_focused()
        page.keyboard.press("Control+a")
        page.keyboard.type(words)
        page.keyboard.press("Enter")
        expect(tasks.get_by_role("button", name=name, exact=True)).to_be_focused()
    tasks.get_by_role("button", name="Disconnect from if on true").press("Enter")
    tasks.get_by_role("button", name="Connect post").press("Enter")
    expect(tasks.get_by_role("combobox", name="After")).to_be_focused()
    page.keyboard.type("if")
    page.keyboard.press("Tab")
    page.keyboard.type("false")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(row(page, "post")).to_contain_text("on false")
    tasks.get_by_role("button", name="Delete post").press("Enter")
    expect(tasks.get_by_role("button", name="if", exact=True)).to_be_focused()
    page.keyboard.press("Control+z")
    expect(row(page, "post")).to_contain_text("on false")
    page.get_by_role("button", name="Save", exact=True).press("Enter")
    expect(page.get_by_role("status", name="Draft")).to_have_text(re.compile("saved$"))
    made.refresh_from_db()
    assert [task["id"] for task in made.definition["tasks"]] == ["request", "if", "post"]
    assert made.definition["edges"] == [
        {"from": "request", "to": "if"},
        {"from": "if", "to": "post", "on": "false"},
    ]


def test_a_task_is_put_into_no_circle_but_into_a_container_and_out_again(
    studio: Any, workflow: Any
) -> None:
    page = studio(workflow(**CHAIN))
    tasks = listed(page)
    tasks.get_by_role("button", name="Connect Fetch order").click()
    expect(tasks.get_by_text("No other task can precede this one.")).to_be_visible()
    tasks.get_by_role("combobox", name="Move risky to").select_option(label="refine")
    expect(tasks.get_by_role("button", name="risky, in refine")).to_be_visible()
    tasks.get_by_role("combobox", name="Move risky to").select_option(label="the workflow")
    expect(tasks.get_by_role("button", name="risky", exact=True)).to_be_visible()


def test_the_list_fits_and_is_readable(studio: Any, workflow: Any) -> None:
    page = studio(workflow(**CHAIN))
    listed(page)
    for width in (1440, 820, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(SIDEWAYS) <= 0
        assert page.evaluate("document.querySelector('.nodelist').scrollWidth") <= width
        picture_in_both(page, f"studio-list-{width}")
        assert findings_in_both(page, ".nodelist", ".top") == []


def test_the_sides_are_drawers_on_narrow_screens(studio: Any, workflow: Any) -> None:
    page = studio(workflow(**CHAIN))
    assert findings_in_both(page, ".palette") == []
    page.set_viewport_size({"width": 390, "height": 800})
    modules = page.get_by_role("complementary", name="Modules")
    expect(modules).to_be_hidden()
    opener = page.get_by_role("button", name="Show modules")
    opener.click()
    expect(modules).to_be_visible()
    picture_in_both(page, "studio-palette-390")
    assert findings_in_both(page, ".palette-side") == []
    page.keyboard.press("Escape")
    expect(modules).to_be_hidden()
    expect(opener).to_be_focused()
    # Below 600 px the list replaces the canvas, and a task's name opens its details.
    page.get_by_role("button", name="Fetch order", exact=True).click()
    details = page.get_by_role("complementary", name="Details")
    expect(details).to_be_visible()
    picture_in_both(page, "studio-details-390")
    assert page.evaluate(SIDEWAYS) <= 0
    page.get_by_role("button", name="Close details").click()
    expect(details).to_be_hidden()


def test_notes_are_listed_and_deleted(studio: Any, workflow: Any) -> None:
    page = studio(workflow())
    page.get_by_role("button", name="Note", exact=True).click()
    notes = listed(page).get_by_role("region", name="Notes")
    notes.get_by_role("button", name="Empty note", exact=True).click()
    notes.get_by_role("button", name="Delete Empty note").click()
    expect(notes).to_have_count(0)


def test_who_may_only_look_is_told_and_changes_nothing(
    quiet_page: Any, workflow: Any, django_user_model: Any
) -> None:
    made = workflow(**CHAIN)
    reader = django_user_model.objects.create_user("reader", is_staff=True)
    Membership.objects.create(user=reader, workspace=made.workspace, role="USER")
    assign_perm("read_workflow", reader, made)
    signed_in(quiet_page, reader)
    quiet_page.goto(f"{quiet_page.home}/studio/{made.pk}/")
    expect(quiet_page.get_by_role("note")).to_contain_text("not change it")
    item = quiet_page.get_by_role("button", name="HTTP request", exact=True)
    expect(item).to_have_attribute("aria-disabled", "true")
    item.click(force=True)
    tasks = listed(quiet_page)
    expect(tasks.get_by_role("heading")).to_have_text(re.compile("^4 tasks"))
    expect(tasks.get_by_role("button", name="Delete Fetch order")).to_have_attribute(
        "aria-disabled", "true"
    )
