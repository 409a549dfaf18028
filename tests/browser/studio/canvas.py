"""Common actions of the canvas's tests."""

from typing import Any

from playwright.sync_api import expect

from executions.models import Workflow

Point = tuple[float, float]


def task(task_id: str, x: int = 0, y: int = 0, use: str = "flow.noop", **more: Any) -> Any:
    """Return a task with a position."""
    return {"id": task_id, "use": use, "ui": {"x": x, "y": y}, **more}


def node(page: Any, path: str) -> Any:
    """Return a task's node on the canvas; a note's path is `note:BODY:ID`."""
    return page.locator(f'.react-flow__node[data-id="{path}"]')


def handle(page: Any, path: str, outcome: str = "success") -> Any:
    """Return the handle at which a task's edges with an outcome begin; edges end at `in`."""
    return page.locator(f'.react-flow__handle[data-nodeid="{path}"][data-handleid="{outcome}"]')


def line(page: Any, start: str, end: str, outcome: str = "success") -> Any:
    """Return an edge on the canvas."""
    return page.get_by_label(f"Edge from {start} to {end} on {outcome}", exact=True)


def middle(of: Any) -> Point:
    """Return the middle of a locator's element, on the screen."""
    box = of.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Any, start: Point, end: Point, steps: int = 6) -> None:
    """Press, move and release the mouse."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=steps)
    page.mouse.up()


def notice(page: Any) -> Any:
    """Return the notice at the bottom of the canvas."""
    return page.locator(".notice-line")


def draft(page: Any) -> Any:
    """Return the text that says whether the draft is saved."""
    return page.get_by_role("status", name="Draft")


def saved(page: Any, of: Workflow) -> Any:
    """Press Ctrl+S; return the draft on the server."""
    page.keyboard.press("Control+s")
    expect(draft(page)).to_have_text("cloud_donesaved")
    of.refresh_from_db()
    return of.definition


def edges(definition: Any) -> set[tuple[str, str, str]]:
    """Return a body's edges: from, to, outcome."""
    return {(e["from"], e["to"], e.get("on", "success")) for e in definition["edges"]}
