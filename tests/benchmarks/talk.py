"""Progress lines, each with the seconds since the start of the whole benchmark."""

import os
import time

BEGAN = "BENCH_BEGAN"
# The clock is the machine's, so that parts in processes of their own count from the same instant.
_BEGAN = float(os.environ.get(BEGAN) or time.monotonic())


def say(text: str) -> None:
    """Print one line at once."""
    print(f"[{elapsed():6.1f} s] {text}", flush=True)


def elapsed() -> float:
    """Seconds since that start."""
    return time.monotonic() - _BEGAN


def inherited() -> dict[str, str]:
    """What a part's environment needs to count on."""
    return {BEGAN: str(_BEGAN)}
