"""The duration of each duty of the sweeper, reported by the control worker that ran it.

The worker imports this module with `-I`; each duty then records its milliseconds in Redis. The
duties themselves, and when they run, are as in production.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable

import redis

KEY = "bench:ticks"
MOST = 10_000  # recorded durations; the oldest are dropped


def _store() -> "redis.Redis":
    return redis.Redis.from_url(os.environ["BENCH_PLAIN_REDIS_URL"], socket_timeout=10)


def timed(name: str, duty: Callable[[], int]) -> Callable[[], int]:
    """Return the duty, extended to record its duration."""
    store = _store()

    def run() -> int:
        began = time.perf_counter()
        try:
            return duty()
        finally:
            note = f"{name} {1000 * (time.perf_counter() - began):.3f}"
            store.pipeline().lpush(KEY, note).ltrim(KEY, 0, MOST - 1).execute()

    return run


def longest() -> dict[str, float]:
    """Return the milliseconds of each duty's longest run, the longest first."""
    return longest_of(note.decode() for note in _store().lrange(KEY, 0, -1))


def longest_of(notes: Iterable[str]) -> dict[str, float]:
    """Return the milliseconds of each duty's longest run from these notes, the longest first."""
    found: dict[str, float] = {}
    for note in notes:
        name, _, took = note.rpartition(" ")
        found[name] = max(found.get(name, 0.0), float(took))
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def _install() -> None:
    from runners.recovery import sweeper
    from runners.recovery.duties import EVERY_FIVE_SECONDS, EVERY_SECOND

    for duties in (sweeper.OFTEN, EVERY_SECOND, sweeper.SELDOM, EVERY_FIVE_SECONDS):
        for name, duty in list(duties.items()):
            duties[name] = timed(name, duty)


if "worker" in sys.argv:
    _install()
