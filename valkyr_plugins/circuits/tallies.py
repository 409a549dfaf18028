"""How many calls of each target this process saw answered of late, kept in memory alone.

A failure takes them along when it is counted, so that a target is judged by the share of its calls
that fail, and one that answers costs no query.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


@dataclass(slots=True)
class Tally:
    """Answers of the present half of a window and of the one before."""

    began: float
    present: int = 0
    before: int = 0


class Tallies(Generic[K]):
    """Tallies by target; its threads share it. `kept` targets at most, or all are forgotten."""

    def __init__(self, clock: Callable[[], float], kept: int) -> None:
        """`clock` is in seconds and never goes back."""
        self._clock, self._kept = clock, kept
        self._tallies: dict[K, Tally] = {}
        self._lock = Lock()

    def count(self, key: K, window: float) -> None:
        """Count one more answer; those of more than `window` seconds ago do not matter."""
        now, half = self._clock(), window / 2
        with self._lock:
            tally = self._tallies.get(key)
            if tally is None:
                if len(self._tallies) >= self._kept:
                    self._tallies = {}
                tally = self._tallies[key] = Tally(now)
            elif now - tally.began >= half:
                tally.before = tally.present if now - tally.began < window else 0
                tally.began, tally.present = now, 0
            tally.present += 1

    def take(self, key: K, window: float) -> int:
        """The answers of about the last `window` seconds that were not taken yet."""
        with self._lock:
            tally = self._tallies.pop(key, None)
        if tally is None or self._clock() - tally.began >= window:
            return 0
        return tally.present + tally.before

    def forget(self) -> None:
        """Begin anew."""
        with self._lock:
            self._tallies = {}
