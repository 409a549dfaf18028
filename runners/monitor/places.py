"""Where on the plane the vertices of a layered graph stand; lengths are CSS pixels.

Layers go from left to right. One with very many vertices becomes several columns, and a graph that
is far longer than high goes on below, like lines of text, so that a whole graph fits a screen.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isqrt, sqrt

from runners.monitor.layers import Layers

Size = tuple[float, float]
Point = tuple[float, float]
ACROSS, DOWN = 72.0, 20.0  # between columns, between vertices of one
FEWEST_ROWS = 16
PASSES = 4
BAND_GAP = 72.0
# A graph is broken into bands when it is longer than this, and this many times as long as high.
BROKEN_LENGTH, BROKEN_RATIO = 3_000.0, 8.0
BAND_RATIO = 2.0  # how much longer than high it should be then


@dataclass(slots=True)
class Places:
    """The upper left corner of each vertex, the band it stands in, and the size of it all.

    Bands are `step` apart.
    """

    x: list[float]
    y: list[float]
    band: list[int]
    width: float = 0
    height: float = 0
    step: float = 0


def placed(layers: Layers, sizes: Sequence[Size]) -> Places:
    """The places of all vertices; bends have no size and come after those of `sizes`."""
    everything = [*sizes, *[(0.0, 0.0)] * (len(layers.before) - len(sizes))]
    columns = _columns(layers.rows, layers.count)
    many = len(everything)
    places = Places([0.0] * many, [0.0] * many, [0] * many)
    _set_heights(columns, layers, everything, places)
    widths = [max(everything[vertex][0] for vertex in column) for column in columns]
    _set_lengths(columns, widths, everything, places)
    _break_into_bands(columns, widths, everything, places)
    return places


def _columns(rows: Sequence[list[int]], count: int) -> list[list[int]]:
    """The layers; a very high one as several columns of about equal height."""
    most = max(FEWEST_ROWS, isqrt(2 * count))
    columns = []
    for row in rows:
        parts = ceil(len(row) / most)
        height = ceil(len(row) / parts)
        columns += [row[start : start + height] for start in range(0, len(row), height)]
    return columns


def _set_heights(
    columns: Sequence[list[int]], layers: Layers, sizes: Sequence[Size], places: Places
) -> None:
    """Each vertex as near to the middle of its neighbours as its column has room for."""
    for column in columns:
        _stack(column, sizes, places)
    for turn in range(PASSES):
        forwards = turn % 2 == 0
        neighbours = layers.before if forwards else layers.after
        for column in columns if forwards else reversed(columns):
            _settle(column, neighbours, sizes, places)
    top = min(places.y, default=0.0)
    places.y = [y - top for y in places.y]
    places.height = max((y + size[1] for y, size in zip(places.y, sizes, strict=True)), default=0)


def _stack(column: Sequence[int], sizes: Sequence[Size], places: Places) -> None:
    """One below the other, around zero."""
    total = sum(sizes[vertex][1] + DOWN for vertex in column) - DOWN
    y = -total / 2
    for vertex in column:
        places.y[vertex] = y
        y += sizes[vertex][1] + DOWN


def _settle(
    column: Sequence[int],
    neighbours: Sequence[Sequence[int]],
    sizes: Sequence[Size],
    places: Places,
) -> None:
    """Least squares under the column's order: pool adjacent violators (Barlow et al., 1972)."""
    blocks: list[tuple[float, int]] = []  # (the mean of what its vertices wish, how many)
    offsets = []
    offset = 0.0
    for vertex in column:
        offsets.append(offset)
        wish = _wish(vertex, neighbours[vertex], sizes, places) - offset
        offset += sizes[vertex][1] + DOWN
        blocks.append((wish, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (one, n), (other, m) = blocks[-2:]
            blocks[-2:] = [((one * n + other * m) / (n + m), n + m)]
    settled = [mean for mean, many in blocks for _ in range(many)]
    for vertex, base, shift in zip(column, settled, offsets, strict=True):
        places.y[vertex] = base + shift


def _wish(vertex: int, neighbours: Sequence[int], sizes: Sequence[Size], places: Places) -> float:
    if not neighbours:
        return places.y[vertex]
    middles = (places.y[other] + sizes[other][1] / 2 for other in neighbours)
    return sum(middles) / len(neighbours) - sizes[vertex][1] / 2


def _set_lengths(
    columns: Sequence[list[int]], widths: Sequence[float], sizes: Sequence[Size], places: Places
) -> None:
    x = 0.0
    for column, width in zip(columns, widths, strict=True):
        for vertex in column:
            places.x[vertex] = x + (width - sizes[vertex][0]) / 2
        x += width + ACROSS
    places.width = max(0.0, x - ACROSS)


def _break_into_bands(
    columns: Sequence[list[int]], widths: Sequence[float], sizes: Sequence[Size], places: Places
) -> None:
    """Let a graph that is a long, thin line go on below."""
    step = places.step = places.height + BAND_GAP
    if places.width < BROKEN_LENGTH or places.width < BROKEN_RATIO * step:
        return
    length = places.width / sqrt(places.width / (BAND_RATIO * step))
    start, band, reached = 0.0, 0, 0.0
    x = 0.0
    for column, width in zip(columns, widths, strict=True):
        if x + width - start > length and x > start:
            start, band = x, band + 1
        for vertex in column:
            places.x[vertex] -= start
            places.y[vertex] += band * step
            places.band[vertex] = band
        reached = max(reached, x + width - start)
        x += width + ACROSS
    places.width = reached
    places.height += band * step
