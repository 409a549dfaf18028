"""The design system's page: every component in both themes, its contrast, and its pictures."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from tests.browser.pictures import picture
from tests.support.accessibility import findings

PROJECT = Path(__file__).parents[2]
# axe reads style sheets by requests, which pages of files must not make.
ADDRESS = "http://gallery.test"
SURFACES = ("ground", "paper", "soft")
TEXTS = ("text", "subtle", "link", "accent", "grey", "blue", "amber", "green", "red")
MARKS = ("strong-line", "edge", *(f"chart-{one}" for one in ("succeeded", "timed-out", "failed")))
# (colour, behind it, the least contrast): WCAG 2.2, 1.4.3 for text and 1.4.11 for marks.
PAIRS = [
    *((text, surface, 4.5) for text in TEXTS for surface in (*SURFACES, "accent-soft")),
    *((mark, surface, 3.0) for mark in MARKS for surface in ("ground", "paper")),
    *(("on-fill", fill, 4.5) for fill in ("accent-fill", "danger-fill")),
    *(("text", f"note-{colour}", 4.5) for colour in ("yellow", "blue", "green", "pink", "grey")),
]
# The contrast of two tokens as the browser paints them, by WCAG's relative luminance.
CONTRAST = """([theme, one, other]) => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const probe = document.querySelector(theme).appendChild(document.createElement("i"));
  const luminance = (name) => {
    probe.style.color = `var(--vk-${name})`;
    canvas.fillStyle = getComputedStyle(probe).color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  probe.remove();
  return (high + 0.05) / (low + 0.05);
}"""


@pytest.fixture
def gallery(quiet_page: Any) -> Any:
    """Open the gallery, served from the repository's files."""
    quiet_page.route(
        f"{ADDRESS}/**",
        lambda route: route.fulfill(path=PROJECT / urlsplit(route.request.url).path[1:]),
    )
    quiet_page.goto(f"{ADDRESS}/executions/frontend/gallery/index.html")
    expect(quiet_page.locator(".theme")).to_have_count(2)
    quiet_page.evaluate("() => document.fonts.ready")
    return quiet_page


def test_every_component_is_accessible_in_both_themes(gallery: Any) -> None:
    assert findings(gallery) == []
    picture(gallery, "design-system")
    gallery.set_viewport_size({"width": 780, "height": 844})
    assert gallery.evaluate("document.documentElement.scrollWidth") <= 780


def test_colours_have_the_contrast_that_their_use_needs(gallery: Any) -> None:
    measured = {
        (theme, *pair): gallery.evaluate(CONTRAST, [f".theme.{theme}", *pair[:2]])
        for theme in ("vk-light", "dark")
        for pair in PAIRS
    }

    assert {pair: round(has, 2) for pair, has in measured.items() if has < pair[-1]} == {}
