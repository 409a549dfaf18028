"""Notes on the canvas, and copies from one workflow to another."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.studio.canvas import drag, edges, middle, node, notice, saved, task

pytestmark = pytest.mark.browser


def test_a_note_is_written_coloured_resized_and_deleted(studio: Any, workflow: Any) -> None:
    stored = workflow(tasks=[task("a")])
    page = studio(stored)
    page.keyboard.press("n")
    text = page.get_by_role("textbox", name="Text of the note")
    expect(text).to_be_focused()
    page.keyboard.type("Ask finance\nfirst")
    page.keyboard.press("Escape")
    note = node(page, "note::note")
    expect(note).to_be_focused()
    expect(note).to_contain_text("Ask finance")
    page.get_by_role("button", name="pink").click()
    corner = note.locator(".react-flow__resize-control.handle.bottom.right")
    at = middle(corner)
    drag(page, at, (at[0] + 60, at[1] + 40))
    (kept,) = saved(page, stored)["ui"]["notes"]
    assert (kept["text"], kept["color"]) == ("Ask finance\nfirst", "pink")
    assert kept["w"] > 240
    assert kept["h"] > 140
    note.focus()
    page.keyboard.press("Delete")
    expect(note).to_have_count(0)


def test_enter_on_a_selected_note_edits_it_and_typing_is_one_step(
    studio: Any, workflow: Any
) -> None:
    note = {"id": "n", "x": 0, "y": 0, "w": 200, "h": 100, "text": "old"}
    page = studio(workflow(tasks=[task("a", 400)], ui={"notes": [note]}))
    node(page, "note::n").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    page.keyboard.type(" and new")
    page.keyboard.press("Escape")
    expect(node(page, "note::n")).to_contain_text("old and new")
    page.keyboard.press("Control+z")
    expect(node(page, "note::n").locator("p")).to_have_text("old")


def test_tasks_are_copied_into_another_workflow_with_their_edges_and_templates(
    studio: Any, workflow: Any
) -> None:
    reads = {"values": {"x": "{{ tasks.a.output }}"}}
    tasks = [task("a"), task("b", 300, 0, "data.set", **{"with": reads}), task("c", 600)]
    source = workflow("source", tasks=tasks, edges=[{"from": "a", "to": "b"}])
    target = workflow("target", tasks=[task("a")])
    page = studio(source)
    node(page, "a").click()
    node(page, "b").click(modifiers=["Control"])
    page.keyboard.press("Control+c")
    expect(notice(page)).to_have_text("Copied 2 tasks.")
    studio(target)
    node(page, "a").focus()
    page.keyboard.press("Control+v")
    expect(node(page, "a_2")).to_be_visible()
    definition = saved(page, target)
    assert edges(definition) == {("a_2", "b", "success")}
    pasted = next(one for one in definition["tasks"] if one["id"] == "b")
    assert pasted["with"] == {"values": {"x": "{{ tasks.a_2.output }}"}}


def test_tasks_are_cut_and_pasted_into_a_container(studio: Any, workflow: Any) -> None:
    body = {"tasks": [], "edges": []}
    loop = task("again", 300, 0, "flow.loop", **{"with": {"count": 2}, "body": body})
    page = studio(workflow(tasks=[task("a"), loop]))
    node(page, "a").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Control+x")
    expect(node(page, "a")).to_have_count(0)
    node(page, "again").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Control+v")
    expect(node(page, "again.a")).to_be_visible()


def test_copying_in_a_field_copies_its_text(studio: Any, workflow: Any) -> None:
    page = studio(workflow(tasks=[task("a")]))
    node(page, "a").click()
    search = page.get_by_role("searchbox", name="Search modules")
    search.fill("wait")
    search.select_text()
    page.keyboard.press("Control+c")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Control+v")
    expect(search).to_have_value("waitwait")
    expect(page.locator(".react-flow__node")).to_have_count(1)
