"""Pictures of pages for people to look at; none unless VALKYR_PICTURES names a folder."""

import os
from pathlib import Path
from typing import Any

PICTURES = os.environ.get("VALKYR_PICTURES", "")


def picture(page: Any, name: str) -> None:
    """Leave one picture of the whole page."""
    if PICTURES:
        page.screenshot(path=str(Path(PICTURES) / f"{name}.png"), full_page=True)
