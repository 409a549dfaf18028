"""Three hundred tasks, including containers, on the canvas.

The test asserts the work of the page's main thread, which a busy machine hardly changes. Frames per
second are recorded (VALKYR_FIGURES=FILE) for measurements on an idle one.
"""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.studio.canvas import middle, node, task
from tests.browser.studio.frames import during, figure

pytestmark = pytest.mark.browser

ROWS, COLUMNS, LOOPS = 12, 21, 12
STEPS = 40
# Half a frame at 60 per second is 8 ms; three times what a quiet machine needs.
MOST_WORK = 60.0


def large() -> dict[str, Any]:
    """Return 252 tasks in rows, including gates, and 12 loops of three tasks each."""
    tasks, edges = [], []
    for row in range(ROWS):
        for column in range(COLUMNS):
            gate = column % 5 == 2
            use = "flow.if" if gate else "flow.noop"
            given = {"with": {"condition": "{{ true }}"} if gate else {}}
            tasks.append(task(f"t{row}_{column}", column * 290, row * 110, use, **given))
            if column:
                on = {"on": "true"} if (column - 1) % 5 == 2 else {}
                edges.append({"from": f"t{row}_{column - 1}", "to": f"t{row}_{column}"} | on)
    for number in range(LOOPS):
        inner = [task("a"), task("b", 280), task("c", 560)]
        body = {"tasks": inner, "edges": [{"from": "a", "to": "b"}, {"from": "b", "to": "c"}]}
        x, y = number % 4 * 1100, 1400 + number // 4 * 260
        given = {"with": {"count": 3}, "body": body}
        tasks.append(task(f"loop{number}", x, y, "flow.loop", **given))
    return {"tasks": tasks, "edges": edges}


def test_three_hundred_tasks_are_shown_zoomed_and_dragged_smoothly(
    studio: Any, workflow: Any
) -> None:
    page = studio(workflow(**large()))
    expect(page.locator(".react-flow__node")).to_have_count(ROWS * COLUMNS + LOOPS * 4)
    figure("first view, ms", round(page.evaluate("() => performance.now()")))

    def zoom() -> None:
        page.mouse.move(*middle(page.get_by_role("region", name="Canvas", exact=True)))
        for step in range(STEPS):
            page.mouse.wheel(0, -60 if step < STEPS / 2 else 60)
            page.evaluate("() => new Promise(requestAnimationFrame)")

    def drag(path: str) -> None:
        x, y = middle(node(page, path))
        page.mouse.move(x, y)
        page.mouse.down()
        for step in range(STEPS):
            page.mouse.move(x + 2 * step, y + step)
            page.evaluate("() => new Promise(requestAnimationFrame)")
        page.mouse.up()

    for name, act in (
        ("zooming", zoom),
        ("dragging a task", lambda: drag("t5_10")),
        ("dragging in a container", lambda: drag("loop5.b")),
    ):
        page.keyboard.press("f")
        frames = during(page, STEPS, act)
        figure(name, frames)
        assert frames.work < MOST_WORK, f"{name}: {frames}"
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    expect(page.get_by_role("button", name="Undo")).to_have_attribute("aria-disabled", "true")
