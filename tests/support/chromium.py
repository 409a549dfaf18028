"""Find the browser for browser tests, or the reason why it is missing."""

import os
import shutil

# First the one without windows: the same renderer, with much less of a browser around it.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)


def chromium_path() -> str | None:
    """Return the program named by CHROMIUM, or the first known one that is installed; None if there
    is none.
    """
    named = os.environ.get("CHROMIUM", "")
    return shutil.which(named) if named else next(filter(None, map(shutil.which, NAMES)), None)


REASON = (
    "no Chromium found: install it (apt-get install chromium-headless-shell) "
    "or name it in CHROMIUM, then the browser tests run"
)
