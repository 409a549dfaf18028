"""Accessibility problems that axe-core finds on a page, one sentence each."""

from functools import cache
from pathlib import Path
from typing import Any

AXE = Path(__file__).with_name("axe") / "axe.min.js"
# The requirements of WCAG 2.2, up to level AA.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# The rules about colours; all others check elements, their attributes and their positions.
COLOURS = ["color-contrast", "link-in-text-block"]
RUN = """
async ([runOnly, within, without]) => {
  const about = { include: within, exclude: without };
  const found = await axe.run(about, { runOnly, resultTypes: ["violations"] });
  return found.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")}: ${node.failureSummary}`));
}
"""
# Everything that rules about elements can see: which elements exist, are shown and named, and
# where.
SHAPE = """() => {
  const looks = new Set(["class", "style"]);
  const told = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    const attributes = [...element.attributes].filter((one) => !looks.has(one.name));
    const place = [x, y, width, height].map(Math.round).join();
    const shown = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
    return [element.tagName, shown, place, ...attributes.map((one) => one.name + one.value)];
  };
  return [...document.body.querySelectorAll("*")].map(told).join("\\n") + document.body.innerText;
}"""
# The admin reads the system's theme when it is loaded, the studio follows it.
WEAR = """scheme => {
  if ("Alpine" in window) document.documentElement.classList.toggle("dark", scheme === "dark");
}"""
WEARS = "scheme => document.documentElement.classList.contains('dark') === (scheme === 'dark')"


@cache
def _source() -> str:
    return AXE.read_text()


def findings(page: Any, *within: str, without: tuple[str, ...] = ()) -> list[str]:
    """Return a sentence for each element that breaks a rule, within the selectors (by default in
    the whole page).
    """
    return _run(page, {"type": "tag", "values": TAGS}, within, without)


def findings_in_both(page: Any, *within: str, without: tuple[str, ...] = ()) -> list[str]:
    """Return the findings for the page in light and in dark, each with its theme.

    In light, all rules are checked. In dark, only the rules about colours are checked, unless
    something other than colours differs: then all rules are. The page is left in light.
    """
    wear(page, "dark")
    dark = page.evaluate(SHAPE)
    rules = {"type": "rule", "values": COLOURS}
    found = _run(page, rules, within, without)
    wear(page, "light")
    if page.evaluate(SHAPE) != dark:
        wear(page, "dark")
        found = findings(page, *within, without=without)
        wear(page, "light")
    light = findings(page, *within, without=without)
    return [f"light: {one}" for one in light] + [f"dark: {one}" for one in found]


def wear(page: Any, scheme: str) -> None:
    """Show the page in `light` or `dark`, without reloading it."""
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.evaluate(WEAR, scheme)
    page.wait_for_function(WEARS, arg=scheme)


def _run(page: Any, rules: Any, within: tuple[str, ...], without: tuple[str, ...]) -> list[str]:
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(_source())
    found: list[str] = page.evaluate(RUN, [rules, list(within) or ["html"], list(without)])
    return found
