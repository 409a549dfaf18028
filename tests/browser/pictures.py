"""Screenshots of pages; none unless VALKYR_PICTURES names a folder."""

import os
from pathlib import Path
from typing import Any

from tests.support.accessibility import wear

PICTURES = os.environ.get("VALKYR_PICTURES", "")


def picture(page: Any, name: str) -> None:
    """Leave one picture of the whole page."""
    if PICTURES:
        page.screenshot(path=str(Path(PICTURES) / f"{name}.png"), full_page=True)


def picture_in_both(page: Any, name: str) -> None:
    """The same in light and in dark, each with its own name; the page is left in light."""
    if PICTURES:
        for scheme in ("dark", "light"):
            wear(page, scheme)
            picture(page, f"{name}-{scheme}")
