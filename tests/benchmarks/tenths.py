"""A long period of work in ten parts of equal size: the rate and the CPU of each."""

import bisect
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import mean

from tests.benchmarks.cpu import tree_seconds

PAUSE = 0.2


@dataclass
class Clock:
    """Reads the CPU seconds of three process trees repeatedly."""

    workers: int
    postgres: int
    redis: int
    at: list[float] = field(default_factory=list)
    read: list[tuple[float, float, float]] = field(default_factory=list)

    def run(self, stop: threading.Event) -> None:
        """Read until `stop` is set, and once more."""
        ended = False
        while not ended:
            ended = stop.wait(PAUSE)
            self.at.append(time.time())
            self.read.append(
                (tree_seconds(self.workers), tree_seconds(self.postgres), tree_seconds(self.redis))
            )

    def used_until(self, instant: float) -> tuple[float, float, float]:
        """Return the seconds of each tree at an instant, interpolated between two readings."""
        place = min(max(1, bisect.bisect_left(self.at, instant)), len(self.at) - 1)
        before, after = self.at[place - 1], self.at[place]
        share = min(1.0, max(0.0, (instant - before) / (after - before)))
        pairs = zip(self.read[place - 1], self.read[place], strict=True)
        one, two, three = (old + share * (new - old) for old, new in pairs)
        return one, two, three


@dataclass(frozen=True, slots=True)
class Tenths:
    """Per tenth: items per second, CPU milliseconds per item."""

    rates: list[float]
    cpu_ms: list[float]
    workers_ms: list[float]
    database_ms: list[float]


def tenths(ends: Sequence[float], clock: Clock) -> Tenths:
    """Return the figures of each tenth, from the sorted times at which items ended.

    The first tenth counts from the first end.
    """
    edges = [round(len(ends) * part / 10) for part in range(11)]
    found = Tenths([], [], [], [])
    for low, high in pairwise(edges):
        begin, end = ends[max(0, low - 1)], ends[high - 1]
        pieces = high - max(1, low)
        then, now = clock.used_until(begin), clock.used_until(end)
        used = [1000 * (new - old) / pieces for old, new in zip(then, now, strict=True)]
        found.rates.append(pieces / (end - begin))
        found.cpu_ms.append(sum(used))
        found.workers_ms.append(used[0])
        found.database_ms.append(used[1])
    return found


def spread(values: Sequence[float]) -> float:
    """Return the largest distance from the mean, as a share of the mean."""
    middle = mean(values)
    return max(abs(value / middle - 1) for value in values)
