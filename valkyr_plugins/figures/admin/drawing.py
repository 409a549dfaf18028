"""Charts for the template: the coordinates of bars and lines, labels, and the data as a table."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

# Convert numbers to positions in a drawing, and make its labels. Pure.


MOST_DECADES = 6
# Values are milliseconds and counts, so anything below a picosecond is not drawn.
TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps a value to a share of the height from the bottom (0 to 1).

    `ticks` are the labelled values, from top to bottom.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Return a value's share of the chart's height; 0 or 1 for values outside the scale."""
        if self.logarithmic:
            value = math.log10(max(value, self.low))
            low, high = math.log10(self.low), math.log10(self.high)
        else:
            low, high = self.low, self.high
        return min(1.0, max(0.0, (value - low) / (high - low)))


def linear(values: Iterable[float], least: float = 1.0) -> Scale:
    """Return a scale from 0 to the smallest round number that is not below any value.

    A round number is 1, 2 or 5 times a power of ten. The scale ends at `least` or above.
    """
    top = round_up(max(values, default=least) or least)
    top = max(top, least)
    return Scale(0.0, top, (top, top / 2, 0.0))


def logarithmic(values: Iterable[float]) -> Scale:
    """Return a logarithmic scale for the positive values; it spans at most six powers of ten."""
    known = [max(value, TINY) for value in values if value > 0] or [1.0]
    last = math.ceil(math.log10(max(known)))
    first = min(max(math.floor(math.log10(min(known))), last - MOST_DECADES), last - 1)
    ticks = tuple(10.0**power for power in range(last, first - 1, -1))
    return Scale(10.0**first, 10.0**last, ticks, logarithmic=True)


def round_up(value: float) -> float:
    """Return the smallest number (1, 2 or 5 times a power of ten) not below a positive value."""
    power = 10.0 ** math.floor(math.log10(value))
    for step in (1, 2, 5, 10):
        if value <= step * power * (1 + 1e-9):
            return step * power
    return 10 * power


WIDTH = 600.0
HEIGHT = 140.0
LEAST = 1.5  # minimum height of a bar, so that one failure among thousands is visible


@dataclass(frozen=True, slots=True)
class Bar:
    """One rectangle; y grows downwards. `said` is the text shown on hover."""

    x: str
    y: str
    width: str
    height: str
    kind: str
    said: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line whose pieces are separated by gaps, and dots for single values between gaps."""

    word: str
    kind: str
    pieces: tuple[str, ...]
    dots: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A whole chart; `said` describes it for screen readers."""

    name: str
    title: str
    said: str
    note: str = ""
    bars: Sequence[Bar] = ()
    lines: Sequence[Line] = ()
    legend: Sequence[tuple[str, str]] = ()  # (kind, word)
    y_labels: Sequence[str] = ()
    grid: Sequence[str] = ()
    headers: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = field(default_factory=list)
    empty: str = ""
    width: float = WIDTH
    height: float = HEIGHT


def stacked(columns: Sequence[Sequence[tuple[str, int, str]]], scale: Scale) -> list[Bar]:
    """Return the bars of columns; a column lists (kind, number, said) from the bottom up."""
    step = WIDTH / max(1, len(columns))
    drawn = []
    for place, column in enumerate(columns):
        bottom = HEIGHT
        for kind, number, said in column:
            if number <= 0:
                continue
            tall = max(LEAST, HEIGHT * scale.at(number))
            bottom -= tall
            drawn.append(
                Bar(
                    _n(place * step + step * 0.1),
                    _n(max(0.0, bottom)),
                    _n(step * 0.8),
                    _n(tall),
                    kind,
                    said,
                )
            )
    return drawn


def line(word: str, kind: str, values: Sequence[float | None], scale: Scale) -> Line:
    """Return a line through the slots' centres.

    Missing values are drawn as gaps, and single values between gaps as dots.
    """
    step = WIDTH / max(1, len(values))
    pieces: list[list[tuple[float, float]]] = [[]]
    for place, value in enumerate(values):
        if value is None:
            pieces.append([])
        else:
            pieces[-1].append(((place + 0.5) * step, HEIGHT * (1 - scale.at(value))))
    return Line(
        word,
        kind,
        tuple(" ".join(f"{_n(x)},{_n(y)}" for x, y in piece) for piece in pieces if len(piece) > 1),
        tuple((_n(piece[0][0] - 3), _n(piece[0][1])) for piece in pieces if len(piece) == 1),
    )


def grid(scale: Scale) -> list[str]:
    """Return the y coordinates of a chart's grid lines."""
    return [_n(HEIGHT * (1 - scale.at(tick))) for tick in scale.ticks]


def _n(value: float) -> str:
    return f"{value:.1f}"
