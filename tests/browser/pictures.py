"""Screenshots of pages, if VALKYR_PICTURES names a folder."""

import os
from pathlib import Path
from typing import Any

from tests.support.accessibility import wear

PICTURES = os.environ.get("VALKYR_PICTURES", "")


def picture(page: Any, name: str) -> None:
    """Save one picture of the whole page."""
    if PICTURES:
        page.screenshot(path=str(Path(PICTURES) / f"{name}.png"), full_page=True)


def picture_in_both(page: Any, name: str) -> None:
    """Save a picture in light and in dark, each with its own name; leave the page in light."""
    if PICTURES:
        for scheme in ("dark", "light"):
            wear(page, scheme)
            picture(page, f"{name}-{scheme}")
