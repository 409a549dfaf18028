"""Which layer each vertex of an acyclic graph stands in, and in which order within it.

The layered drawing of Sugiyama, Tagawa and Toda (1981): a vertex stands after all before it, and
sweeps over the layers set each vertex near the middle of its neighbours, so that few edges cross.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Pair = tuple[int, int]
SWEEPS = 6
# An edge over more layers than this is drawn straight over what lies between: a bent one needs a
# vertex of its own in every layer it passes.
LONGEST_BENT = 24


@dataclass(frozen=True, slots=True)
class Layers:
    """Vertices by layer, in order; those from `count` on are the bends of long edges.

    `bends` holds the bends of an edge, by its index; `above` and `below` each vertex's neighbours.
    """

    count: int
    rows: list[list[int]]
    bends: dict[int, list[int]]
    before: list[list[int]]
    after: list[list[int]]


def layered(count: int, pairs: Sequence[Pair], order: Sequence[int]) -> Layers:
    """The layers of `count` vertices; `order` is a topological order of them."""
    depth = _depths(count, pairs, order)
    rows: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for vertex in order:
        rows[depth[vertex]].append(vertex)
    layers = Layers(count, rows, {}, [[] for _ in range(count)], [[] for _ in range(count)])
    for index, (source, target) in enumerate(pairs):
        _connect(layers, index, source, target, depth)
    _sweep(layers)
    return layers


def _depths(count: int, pairs: Sequence[Pair], order: Sequence[int]) -> list[int]:
    """The longest way to each vertex from one that nothing leads to."""
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in pairs:
        after[source].append(target)
    depth = [0] * count
    for vertex in order:
        for target in after[vertex]:
            depth[target] = max(depth[target], depth[vertex] + 1)
    return depth


def _connect(layers: Layers, index: int, source: int, target: int, depth: Sequence[int]) -> None:
    """Make the two neighbours, by way of a bend in each layer between them."""
    between = range(depth[source] + 1, depth[target])
    bends: list[int] = []
    if len(between) <= LONGEST_BENT:
        for layer in between:
            bends.append(len(layers.before))
            layers.rows[layer].append(bends[-1])
            layers.before.append([])
            layers.after.append([])
        layers.bends[index] = bends
    way = [source, *bends, target]
    for left, right in pairwise(way):
        layers.after[left].append(right)
        layers.before[right].append(left)


def _sweep(layers: Layers) -> None:
    """Order each layer by the middle of its neighbours: forwards and backwards in turn."""
    place = [0.0] * len(layers.before)
    for row in layers.rows:
        _note(row, place)
    for sweep in range(SWEEPS):
        forwards = sweep % 2 == 0
        neighbours = layers.before if forwards else layers.after
        for row in layers.rows if forwards else reversed(layers.rows):
            row.sort(key=lambda vertex: _middle(neighbours[vertex], place, place[vertex]))
            _note(row, place)


def _note(row: Sequence[int], place: list[float]) -> None:
    """Where each stands in its layer, from 0 to 1: layers differ in size."""
    for number, vertex in enumerate(row):
        place[vertex] = (number + 0.5) / len(row)


def _middle(neighbours: Sequence[int], place: Sequence[float], own: float) -> float:
    return sum(place[other] for other in neighbours) / len(neighbours) if neighbours else own
