"""The canvas by mouse: moving, connecting, selecting, dropping."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.studio.canvas import (
    draft,
    drag,
    edges,
    handle,
    line,
    middle,
    node,
    notice,
    saved,
    task,
)

pytestmark = pytest.mark.browser

THREE = [task("a"), task("b", 300), task("c", 600)]
CHAIN = [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}]


def test_a_drag_is_one_step_and_snaps_back_when_undone(studio: Any, workflow: Any) -> None:
    stored = workflow(tasks=THREE)
    page = studio(stored)
    before = middle(node(page, "b"))
    drag(page, before, (before[0], before[1] + 140))
    expect(draft(page)).to_contain_text("unsaved")
    place = next(one for one in saved(page, stored)["tasks"] if one["id"] == "b")["ui"]
    assert place["x"] == 300
    assert place["y"] > 90
    page.keyboard.press("Control+z")
    expect(page.get_by_role("button", name="Undo")).to_have_attribute("aria-disabled", "true")
    expect(node(page, "b")).to_have_attribute("style", re.compile(r"translate\(300px, 0px\)"))


def test_tasks_are_connected_by_their_handles_or_by_letting_go_on_a_card(
    studio: Any, workflow: Any
) -> None:
    stored = workflow(tasks=THREE)
    page = studio(stored)
    drag(page, middle(handle(page, "a")), middle(handle(page, "b", "in")))
    drag(page, middle(handle(page, "b", "error")), middle(node(page, "c")))
    expect(line(page, "a", "b")).to_be_attached()
    assert edges(saved(page, stored)) == {("a", "b", "success"), ("b", "c", "error")}


def test_a_circle_is_refused_with_its_tasks_in_order(studio: Any, workflow: Any) -> None:
    page = studio(workflow(tasks=THREE, edges=CHAIN))
    drag(page, middle(handle(page, "c")), middle(node(page, "a")))
    expect(notice(page)).to_contain_text("a → b → c → a")
    expect(page.locator("#studio-live")).to_contain_text("a → b → c → a")
    expect(draft(page)).to_contain_text("saved")


def test_an_edge_is_put_elsewhere_and_deleted(studio: Any, workflow: Any) -> None:
    stored = workflow(tasks=THREE, edges=[{"from": "a", "to": "b"}])
    page = studio(stored)
    end = page.locator(".react-flow__edgeupdater-target")
    drag(page, middle(end), middle(handle(page, "c", "in")))
    expect(line(page, "a", "c")).to_be_attached()
    x, y = middle(handle(page, "a"))
    page.mouse.click(x + 25, y)
    expect(page.locator(".react-flow__edge.selected")).to_have_count(1)
    page.keyboard.press("Delete")
    expect(line(page, "a", "c")).to_have_count(0)
    assert edges(saved(page, stored)) == set()


def test_several_tasks_are_selected_by_clicks_or_a_box_put_in_line_and_deleted(
    studio: Any, workflow: Any
) -> None:
    stored = workflow(tasks=[task("a"), task("b", 300, 50), task("c", 600, 90)])
    page = studio(stored)
    node(page, "a").click()
    node(page, "b").click(modifiers=["Shift"])
    bar = page.get_by_role("toolbar", name="Selected tasks")
    expect(bar).to_contain_text("2 tasks")
    page.keyboard.press("Escape")
    expect(bar).to_have_count(0)
    page.keyboard.down("Shift")
    first, last = middle(node(page, "a")), middle(node(page, "c"))
    drag(page, (first[0] - 140, first[1] - 120), (last[0] + 140, last[1] + 120))
    page.keyboard.up("Shift")
    expect(bar).to_contain_text("3 tasks")
    bar.get_by_role("button", name="Align tops").click()
    places = {one["id"]: one["ui"] for one in saved(page, stored)["tasks"]}
    assert {place["y"] for place in places.values()} == {0}
    bar.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("This workflow has no tasks yet")).to_be_visible()


def test_a_module_dropped_on_a_container_stands_in_it(studio: Any, workflow: Any) -> None:
    body = {"tasks": [], "edges": []}
    loop = task("again", 0, 0, "flow.loop", **{"with": {"count": 2}, "body": body})
    stored = workflow(tasks=[loop, task("after", 500)])
    page = studio(stored)
    page.locator('[data-module="flow.noop"]').first.drag_to(node(page, "again"))
    expect(node(page, "again.noop")).to_be_visible()
    inner = saved(page, stored)["tasks"][0]["body"]["tasks"]
    assert [one["use"] for one in inner] == ["flow.noop"]


def test_a_container_grows_with_what_is_moved_in_it_and_folds(studio: Any, workflow: Any) -> None:
    body = {"tasks": [task("x"), task("y", 0, 100)], "edges": []}
    loop = task("again", 0, 0, "flow.loop", **{"with": {"count": 2}, "body": body})
    page = studio(workflow(tasks=[loop]))
    before = node(page, "again").bounding_box()
    at = middle(node(page, "again.y"))
    drag(page, at, (at[0] + 200, at[1] + 60))
    expect(draft(page)).to_contain_text("unsaved")
    after = node(page, "again").bounding_box()
    assert after["width"] > before["width"] + 100
    assert after["height"] > before["height"] + 30
    page.get_by_role("button", name="Collapse again").click()
    expect(node(page, "again.x")).to_have_count(0)
    page.get_by_role("button", name="Expand again, 2 tasks").click()
    expect(node(page, "again.x")).to_be_visible()
