"""Checks that every screen of the studio must pass, in light and in dark."""

from typing import Any

from tests.browser.pictures import picture_in_both
from tests.support.accessibility import findings_in_both


def look(page: Any, name: str, without: tuple[str, ...] = ()) -> None:
    """Check that axe finds nothing in either theme; save a picture of each if requested."""
    found = findings_in_both(page, without=without)
    assert found == [], f"{name}: {found}"
    picture_in_both(page, name)
