"""Tasks dragged into loops and maps and out of them."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pictures import picture
from tests.browser.studio.canvas import draft, drag, edges, middle, node, notice, saved, task

pytestmark = pytest.mark.browser

BODY = {"tasks": [task("x"), task("y", 0, 100)], "edges": [{"from": "x", "to": "y"}]}
LOOP = task("again", 400, 0, "flow.loop", **{"with": {"count": 2}, "body": BODY})
GRAPH = {
    "tasks": [task("a"), task("b", 0, 160), LOOP],
    "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "again"}],
}


def ids(body: Any) -> list[str]:
    return [one["id"] for one in body["tasks"]]


def test_a_task_is_dragged_into_a_loop_and_undone_in_one_step(studio: Any, workflow: Any) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    start, end = middle(node(page, "b")), middle(node(page, "again.y"))
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(end[0], end[1] + 30, steps=8)
    expect(notice(page)).to_have_text("Release to move to again.")
    expect(node(page, "again").locator(".landing")).to_be_visible()
    picture(page, "studio-into-a-loop")
    page.mouse.up()
    expect(node(page, "again.b")).to_be_visible()
    expect(notice(page)).to_have_text(
        "1 task moved to again; 2 edges removed. Press Ctrl+Z to undo both."
    )
    definition = saved(page, stored)
    assert ids(definition) == ["a", "again"]
    assert ids(definition["tasks"][1]["body"]) == ["x", "y", "b"]
    assert edges(definition) == set()
    page.keyboard.press("Control+z")
    expect(node(page, "b")).to_be_visible()
    expect(page.get_by_role("button", name="Undo")).to_have_attribute("aria-disabled", "true")
    assert edges(saved(page, stored)) == {("a", "b", "success"), ("b", "again", "success")}


def test_a_task_leaves_its_loop_where_it_is_let_go(studio: Any, workflow: Any) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    at, size = middle(node(page, "again.x")), node(page, "again").bounding_box()
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0], at[1] + size["height"] + 60, steps=10)
    expect(notice(page)).to_have_text("Release to move to the workflow.")
    held = middle(node(page, "again.x"))
    page.mouse.up()
    expect(node(page, "x")).to_be_visible()
    expect(notice(page)).to_contain_text("1 task moved to the workflow; 1 edge removed.")
    now = middle(node(page, "x"))
    assert max(abs(now[0] - held[0]), abs(now[1] - held[1])) < 2
    assert node(page, "again").bounding_box()["height"] <= size["height"]
    assert ids(saved(page, stored)["tasks"][2]["body"]) == ["y"]


def test_selected_tasks_go_together_and_keep_the_edge_between_them(
    studio: Any, workflow: Any
) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    node(page, "a").click(position={"x": 60, "y": 12})
    node(page, "b").click(position={"x": 60, "y": 12}, modifiers=["Shift"])
    drag(page, middle(node(page, "b")), middle(node(page, "again.y")), steps=8)
    expect(node(page, "again.a")).to_be_visible()
    body = next(t for t in saved(page, stored)["tasks"] if t["id"] == "again")["body"]
    assert edges(body) == {("x", "y", "success"), ("a", "b", "success")}


def test_a_drag_within_the_loop_moves_no_task_out_of_it(studio: Any, workflow: Any) -> None:
    stored = workflow(**GRAPH)
    page = studio(stored)
    at = middle(node(page, "again.y"))
    drag(page, at, (at[0] + 120, at[1] + 60))
    expect(draft(page)).to_contain_text("unsaved")
    assert ids(saved(page, stored)["tasks"][2]["body"]) == ["x", "y"]
