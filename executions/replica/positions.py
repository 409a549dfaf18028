"""How old a replica is, by positions in the write-ahead log alone. Pure: clocks are never compared.

The primary's position is noted with the time before it was asked. A replica that has replayed a
noted position has everything that was committed until that time. A replica that has lost its
primary replays no further, and so grows old by itself; its own word that it is idle would not tell.
"""

from collections import deque
from math import inf


class Positions:
    """The primary's positions of the last while; times are one process's monotonic seconds."""

    def __init__(self, kept_seconds: float) -> None:
        """Remember nothing yet; what is older than `kept_seconds` is forgotten."""
        self._kept = kept_seconds
        self._noted: deque[tuple[float, int]] = deque()

    def note(self, asked_at: float, position: int) -> None:
        """The primary was at `position` (bytes), asked for at `asked_at` or a little later."""
        self._noted.append((asked_at, position))
        while self._noted and asked_at - self._noted[0][0] > self._kept:
            self._noted.popleft()

    def fresh_until(self, replayed: int) -> float:
        """Up to which time a replica that has replayed so far has everything; -inf: unknown."""
        return max((at for at, position in self._noted if position <= replayed), default=-inf)
