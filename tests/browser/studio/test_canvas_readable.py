"""The canvas for assistive technology: axe-core's findings, light and dark."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.studio.canvas import node, task
from tests.support.accessibility import findings_in_both

pytestmark = pytest.mark.browser

BODY = {"tasks": [task("x")], "edges": []}
TASKS = [
    task("a", use="flow.if", **{"with": {"condition": "{{ true }}"}}),
    task("again", 300, 0, "flow.loop", **{"with": {"count": 2}, "body": BODY}),
    task("odd", 0, 200, "acme.gone"),
]
EDGES = [{"from": "a", "to": "again", "on": "true"}, {"from": "a", "to": "odd", "on": "error"}]
NOTES = {"notes": [{"id": "n", "x": 0, "y": 320, "w": 220, "h": 100, "text": "Ask first"}]}


def test_axe_finds_nothing_on_the_canvas_and_in_its_dialogs(studio: Any, workflow: Any) -> None:
    page = studio(workflow(tasks=TASKS, edges=EDGES, ui=NOTES))
    page.keyboard.press("Control+a")
    assert findings_in_both(page, "section.canvas") == []
    page.keyboard.press("Escape")
    node(page, "note::n").click()
    assert findings_in_both(page, "section.canvas") == []
    node(page, "a").click()
    for key in ("c", "?", "Control+f"):
        page.keyboard.press(key)
        expect(page.get_by_role("dialog")).to_be_visible()
        assert findings_in_both(page, "dialog") == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
