"""What every screen of the studio has to pass, in light and in dark."""

from typing import Any

from tests.browser.pictures import picture
from tests.support.accessibility import findings


def look(page: Any, name: str, without: tuple[str, ...] = ()) -> None:
    """Nothing for axe to find in either theme; a picture of each for who asks for pictures."""
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found = findings(page, without=without)
        assert found == [], f"{name}, {scheme}: {found}"
        picture(page, name if scheme == "light" else f"{name}-dark")
