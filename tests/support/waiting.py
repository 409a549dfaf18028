"""Wait for a condition with a deadline, instead of sleeping for a fixed time."""

import time
from collections.abc import Callable

import psutil

SHORTEST, LONGEST = 0.02, 0.2  # seconds between two questions
# A long wait ends a test that would hang. On a busy machine everything takes several times as long:
# no bound of the product depends on these limits.
LONG_WAIT, FACTOR = 20.0, 4.0


def wait_until(
    condition: Callable[[], object],
    seconds: float = 30.0,
    what: str = "the condition",
    seen: Callable[[], object] = str,
    *,
    bound: bool = False,
) -> None:
    """Return when `condition()` is true. Raise AssertionError after `seconds`, with the result of
    `seen`; a limit of at least LONG_WAIT is extended by FACTOR, unless it is a `bound`.

    Checking takes at most a tenth of the time, so that it does not slow down the condition.
    """
    if seconds >= LONG_WAIT and not bound:
        seconds *= FACTOR
    deadline = time.monotonic() + seconds
    while True:
        asked = time.monotonic()
        if condition():
            return
        now = time.monotonic()
        if now > deadline:
            raise AssertionError(f"{what} did not come true within {seconds} s. {seen()}")
        time.sleep(min(max(SHORTEST, 9 * (now - asked)), LONGEST))


def wait_until_gone(pids: list[int], seconds: float = 30.0) -> None:
    """Return when none of the processes exists. Raise AssertionError after `seconds`."""
    wait_until(lambda: not any(_runs(pid) for pid in pids), seconds, f"the end of processes {pids}")


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
