"""From numbers to places in a drawing, and the labels beside it. Pure."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

MOST_DECADES = 6
# What is measured here is milliseconds and counts: below a picosecond there is nothing to draw.
TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Scale:
    """Where a value is, as a share of the height from the bottom (0 to 1); labels top to bottom."""

    low: float
    high: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """The share of the height; what is outside is put at the edge."""
        if self.logarithmic:
            value = math.log10(max(value, self.low))
            low, high = math.log10(self.low), math.log10(self.high)
        else:
            low, high = self.low, self.high
        return min(1.0, max(0.0, (value - low) / (high - low)))


def linear(values: Iterable[float], least: float = 1.0) -> Scale:
    """From 0 to a round number not below any value: 1, 2 or 5 times a power of ten."""
    top = round_up(max(values, default=least) or least)
    top = max(top, least)
    return Scale(0.0, top, (top, top / 2, 0.0))


def logarithmic(values: Iterable[float]) -> Scale:
    """Whole powers of ten around the positive values, six at most, a label each."""
    known = [max(value, TINY) for value in values if value > 0] or [1.0]
    last = math.ceil(math.log10(max(known)))
    first = min(max(math.floor(math.log10(min(known))), last - MOST_DECADES), last - 1)
    ticks = tuple(10.0**power for power in range(last, first - 1, -1))
    return Scale(10.0**first, 10.0**last, ticks, logarithmic=True)


def round_up(value: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50, … that is not below a positive value."""
    power = 10.0 ** math.floor(math.log10(value))
    for step in (1, 2, 5, 10):
        if value <= step * power * (1 + 1e-9):
            return step * power
    return 10 * power
