"""How long the hub rests between two looks: as long as it takes to stay a small load."""

from collections import deque

SHORTEST, LONGEST = 0.2, 2.0
# Of the time, so much is spent reading at most.
SHARE = 0.1
# A look that had to wait for a processor says little: the quickest of so many counts.
LOOKS = 3


class LookPacing:
    """The rest by what the last looks took."""

    def __init__(self) -> None:
        """No look yet."""
        self._took: deque[float] = deque(maxlen=LOOKS)

    def rest_after(self, seconds: float) -> float:
        """The rest after a look that took so many seconds."""
        self._took.append(seconds)
        return min(max(SHORTEST, min(self._took) / SHARE), LONGEST)
