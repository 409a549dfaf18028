"""A page is checked in both themes: its colours in each theme, and its elements where the themes
differ.
"""

from typing import Any

import pytest

from tests.support.accessibility import findings_in_both

PAGE = """<!doctype html><html lang="en"><head><title>One</title><style>
  .night { display: none } .dark .night { display: block; width: 40px; height: 40px }
  .dark .faint { background: #000; color: #222 }
</style></head><body><main>%s</main></body></html>"""


def looked_at(page: Any, part: str) -> list[str]:
    """Return the findings as pairs of a theme and a rule."""
    page.set_content(PAGE % part)
    # It changes its theme by its class only, as the admin's pages do.
    page.evaluate("() => { window.Alpine = true }")
    found = [sentence.split(": ") for sentence in findings_in_both(page)]
    return [f"{theme}: {rule}" for theme, rule, *_ in found]


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("<p>Can be read</p>", []),
        ('<p class="faint">Cannot</p>', ["dark: color-contrast"]),
        ('<button class="night"></button>', ["dark: button-name"]),
        ("<img src='data:,'>", ["light: image-alt"]),
    ],
    ids=["sound", "faint in the dark", "nameless in the dark", "in both"],
)
def test_what_is_wrong_in_one_theme_is_found(quiet_page: Any, part: str, found: list[str]) -> None:
    assert looked_at(quiet_page, part) == found
