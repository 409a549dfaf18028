"""The canvas, used only by keyboard."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.studio.canvas import draft, edges, line, node, saved, task

pytestmark = pytest.mark.browser

THREE = [
    task("a", name="Fetch order", use="http.request", **{"with": {"url": "https://a.example"}}),
    task("b", 300),
    task("c", 600),
]


def chosen(page: Any) -> Any:
    return page.locator(".react-flow__node.selected")


def test_tab_walks_the_tasks_enter_selects_and_arrows_move_in_one_step(
    studio: Any, workflow: Any
) -> None:
    stored = workflow(tasks=THREE)
    page = studio(stored)
    node(page, "a").focus()
    expect(node(page, "a")).to_have_accessible_name("Fetch order, http.request")
    page.keyboard.press("Tab")
    expect(node(page, "b")).to_be_focused()
    page.keyboard.press("Enter")
    expect(chosen(page)).to_have_attribute("data-id", "b")
    for key in ("ArrowDown", "ArrowDown", "Shift+ArrowDown"):
        page.keyboard.press(key)
    place = next(one for one in saved(page, stored)["tasks"] if one["id"] == "b")["ui"]
    assert place == {"x": 300, "y": 30}
    page.keyboard.press("Control+z")
    expect(page.get_by_role("button", name="Undo")).to_have_attribute("aria-disabled", "true")
    expect(node(page, "b")).to_have_attribute("style", re.compile(r"translate\(300px, 0px\)"))


def test_c_connects_to_a_task_that_is_searched(studio: Any, workflow: Any) -> None:
    stored = workflow(tasks=THREE, edges=[{"from": "a", "to": "b"}])
    page = studio(stored)
    node(page, "b").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog", name="Connect b")
    expect(dialog.get_by_role("combobox", name="Task to connect to")).to_be_focused()
    expect(dialog.get_by_role("option", name="Fetch order")).to_contain_text("cycle: a → b → a")
    dialog.get_by_role("radio", name="error").check()
    dialog.get_by_role("combobox").focus()
    page.keyboard.type("c")
    page.keyboard.press("Enter")
    expect(line(page, "b", "c", "error")).to_be_attached()
    expect(node(page, "b")).to_be_focused()
    assert ("b", "c", "error") in edges(saved(page, stored))


def test_delete_undo_select_all_and_duplicate(studio: Any, workflow: Any) -> None:
    page = studio(workflow(tasks=THREE, edges=[{"from": "a", "to": "b"}]))
    node(page, "a").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Delete")
    expect(node(page, "a")).to_have_count(0)
    page.keyboard.press("Control+z")
    expect(line(page, "a", "b")).to_be_attached()
    page.keyboard.press("Control+a")
    expect(chosen(page)).to_have_count(3)
    page.keyboard.press("Control+d")
    expect(node(page, "a_2")).to_be_visible()
    expect(line(page, "a_2", "b_2")).to_be_attached()
    expect(chosen(page)).to_have_count(3)
    page.keyboard.press("Escape")
    expect(chosen(page)).to_have_count(0)


def test_finding_a_task_in_a_folded_container_opens_it_and_goes_there(
    studio: Any, workflow: Any
) -> None:
    body = {"tasks": [task("deep", name="Needle")], "edges": []}
    loop = task("again", 900, 0, "flow.loop", **{"with": {"count": 2}, "body": body})
    loop["ui"]["collapsed"] = True
    page = studio(workflow(tasks=[*THREE, loop]))
    expect(node(page, "again.deep")).to_have_count(0)
    page.keyboard.press("Control+f")
    page.keyboard.type("needle")
    page.keyboard.press("Enter")
    expect(node(page, "again.deep")).to_be_in_viewport()
    expect(chosen(page)).to_have_attribute("data-id", "again.deep")


def test_single_letters_can_be_switched_off_and_do_nothing_while_typing(
    studio: Any, workflow: Any
) -> None:
    page = studio(workflow(tasks=[*THREE, task("d")]))
    page.keyboard.press("/")
    search = page.get_by_role("searchbox", name="Search modules")
    expect(search).to_be_focused()
    page.keyboard.type("t?")
    expect(search).to_have_value("t?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    search.fill("")
    page.keyboard.press("Escape")
    expect(search).not_to_be_focused()
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keyboard shortcuts")
    keys.get_by_role("checkbox").uncheck()
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    page.keyboard.press("t")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(draft(page)).to_contain_text("saved")
    page.reload()
    page.get_by_role("button", name="Keyboard shortcuts (?)").click()
    expect(keys.get_by_role("checkbox")).not_to_be_checked()


def test_tidying_goes_where_the_workflow_is_drawn_to(studio: Any, workflow: Any) -> None:
    stored = workflow(
        tasks=[task("a", 50, 40), task("b", 10, 10)], edges=[{"from": "a", "to": "b"}]
    )
    page = studio(stored)
    page.get_by_role("button", name="Lay out downwards").click()
    definition = saved(page, stored)
    a, b = (one["ui"] for one in definition["tasks"])
    assert definition["ui"]["direction"] == "TB"
    assert a["x"] == b["x"]
    assert a["y"] < b["y"]
    expect(page.get_by_role("button", name="Lay out to the right")).to_be_visible()
