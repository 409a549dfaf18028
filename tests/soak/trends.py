"""Decide whether a series of readings grows, by its slope and the part that its noise cannot
explain.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

# The share of a run's time before memory and tables have their final size.
WARM_UP = 0.3
# Growth per hour, as a share of the series' level, that counts as none.
ALLOWED = 0.01
HOUR = 3600.0
MOST_POINTS = 300
Reading = tuple[float, float]  # seconds since the start, value


@dataclass(frozen=True, slots=True)
class Trend:
    """`level` is the median after the warm-up, `growth` the increase per hour at this slope.

    `noise` is the usual distance of a reading from the line, `hours` the length of the line.
    """

    level: float
    growth: float
    noise: float
    hours: float

    @property
    def share(self) -> float:
        """The growth per hour as a share of the level."""
        return self.growth / self.level if self.level else 0.0

    @property
    def grows(self) -> bool:
        """Whether the series grows by more than is allowed, and by more than its noise in that
        time.
        """
        return self.share > ALLOWED and self.growth * self.hours > self.noise


def trend(readings: Sequence[Reading]) -> Trend | None:
    """Return the line after the warm-up by Theil and Sen (1968): one outlier in four changes it
    little.

    Return None if fewer than eight readings are left.
    """
    if not readings:
        return None
    begun = readings[0][0] + WARM_UP * (readings[-1][0] - readings[0][0])
    late = [reading for reading in readings if reading[0] >= begun]
    late = late[:: max(1, len(late) // MOST_POINTS)]
    if len(late) < 8:
        return None
    slope = median((b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(late, 2) if b[0] > a[0])
    start = median(value - slope * at for at, value in late)
    noise = median(abs(value - start - slope * at) for at, value in late)
    level = median(value for _, value in late)
    # Three median deviations contain 95 % of readings with normal noise.
    return Trend(level, slope * HOUR, 3 * noise, (late[-1][0] - late[0][0]) / HOUR)
