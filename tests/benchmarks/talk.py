"""Progress lines, each with the seconds since the start."""

import time

_BEGAN = time.monotonic()


def say(text: str) -> None:
    """Print one line at once."""
    print(f"[{time.monotonic() - _BEGAN:5.1f} s] {text}", flush=True)
