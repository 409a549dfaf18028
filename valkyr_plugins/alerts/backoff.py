"""When a message that could not be sent is tried again: pure."""

from datetime import datetime, timedelta

FACTOR = 3
LONGEST = timedelta(hours=1)


def next_attempt(
    attempts: int,
    *,
    queued_at: datetime,
    now: datetime,
    first: float,
    give_up: float,
    asked: float | None = None,
) -> datetime | None:
    """When to try again after so many failed attempts; None: never.

    The wait begins with `first` seconds and triples up to an hour; `asked` is what the receiver
    asked for (Retry-After), in seconds. It is given up `give_up` seconds after it was queued.
    """
    # Beyond the twentieth power nothing changes but the number's size.
    wait = timedelta(seconds=min(first * FACTOR ** min(attempts - 1, 20), LONGEST.total_seconds()))
    if asked is not None:
        wait = min(max(wait, timedelta(seconds=asked)), LONGEST)
    at = now + wait
    return at if at <= queued_at + timedelta(seconds=give_up) else None
