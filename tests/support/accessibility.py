"""What axe-core finds wrong with a page, as sentences."""

from functools import cache
from pathlib import Path
from typing import Any

AXE = Path(__file__).with_name("axe") / "axe.min.js"
# What WCAG 2.2 asks for, up to level AA.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
RUN = """
async ([tags, within, without]) => {
  const about = { include: within, exclude: without };
  const found = await axe.run(about, { runOnly: tags, resultTypes: ["violations"] });
  return found.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${node.target.join(" ")}: ${node.failureSummary}`));
}
"""


@cache
def _source() -> str:
    return AXE.read_text()


def findings(page: Any, *within: str, without: tuple[str, ...] = ()) -> list[str]:
    """A sentence for each element that breaks a rule, within the selectors (the whole page)."""
    page.evaluate(_source())
    found: list[str] = page.evaluate(RUN, [TAGS, list(within) or ["html"], list(without)])
    return found
