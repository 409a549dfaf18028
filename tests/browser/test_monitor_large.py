"""The monitor with two thousand steps uses few elements, and draws frames in time."""

import json
from typing import Any

from playwright.sync_api import expect

from tests.browser import monitored
from tests.browser.pictures import picture
from tests.browser.test_monitor import row, watch

STEPS = 2_000
# Moves something once per frame, and returns how long each frame took, in milliseconds.
FRAMES = """
(kind) => new Promise((resolve) => {
  const graph = document.querySelector(".vm-graph");
  const pane = graph.querySelector(".react-flow__pane");
  const scroller = document.querySelector(".vm-scroller");
  const lengths = [];
  let last = 0;
  const frame = (now) => {
    if (last) lengths.push(now - last);
    last = now;
    if (lengths.length === 90) return resolve(lengths);
    if (kind === "scroll") scroller.scrollTop += 90;
    const there = lengths.length < 45;
    const wheel = { deltaY: there ? -25 : 25, ctrlKey: true, cancelable: true, bubbles: true };
    const key = { key: there ? "ArrowRight" : "ArrowLeft", bubbles: true };
    if (kind === "zoom") pane.dispatchEvent(new WheelEvent("wheel", wheel));
    if (kind === "pan") graph.dispatchEvent(new KeyboardEvent("keydown", key));
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})
"""


def test_two_thousand_steps_are_shown_with_few_elements(staff_page: Any) -> None:
    execution = monitored.chain(STEPS)
    watch(staff_page, execution)
    table = staff_page.get_by_role("table", name="Runs")
    expect(table).to_have_attribute("aria-rowcount", str(STEPS + 1))
    picture(staff_page, "monitor-large")
    nodes = staff_page.locator(".vm-graph .react-flow__node")
    assert nodes.count() == 0
    assert staff_page.locator(".vm-graph *").count() < 100

    figures = {
        kind: _figures(staff_page.evaluate(FRAMES, kind)) for kind in ("pan", "zoom", "scroll")
    }
    print(json.dumps(figures))

    assert staff_page.locator("tr.vm-row").count() < 60
    row(staff_page, "s").first.focus()
    staff_page.keyboard.press("End")
    expect(row(staff_page, f"s{STEPS - 1}, attempt 1, running")).to_be_focused()
    assert staff_page.locator("tr.vm-row").count() < 60
    expect(staff_page.locator(".vm-graph .card.chosen")).to_be_in_viewport()
    picture(staff_page, "monitor-large-near")
    assert nodes.count() < 100


def _figures(lengths: list[float]) -> dict[str, float]:
    """Return median, 95th percentile and maximum of frame lengths in milliseconds."""
    ordered = sorted(lengths)
    at = {"p50": 0.5, "p95": 0.95, "worst": 1}
    return {
        name: round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1)
        for name, share in at.items()
    }
