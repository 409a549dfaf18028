"""Progress lines, each with the seconds since the start of the whole benchmark."""

import os
import time

BEGAN = "BENCH_BEGAN"
# The machine's clock, so that parts in separate processes count from the same instant.
_BEGAN = float(os.environ.get(BEGAN) or time.monotonic())


def say(text: str) -> None:
    """Print one line at once."""
    print(f"[{elapsed():6.1f} s] {text}", flush=True)


def elapsed() -> float:
    """Return the seconds since the start of the whole benchmark."""
    return time.monotonic() - _BEGAN


def inherited() -> dict[str, str]:
    """Return the environment variable that lets another process count from the same instant."""
    return {BEGAN: str(_BEGAN)}
