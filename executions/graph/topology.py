"""Orders and ancestors of a body's tasks, by index; linear in tasks and edges.

A pair (a, b) says that b comes after a.
"""

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

Pair = tuple[int, int]


def topological_order(count: int, pairs: Iterable[Pair]) -> list[int]:
    """The indexes below `count` in an order that keeps every pair, the definition's where free.

    Indexes on a cycle, or after one, are missing from the result.
    """
    following: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for source, target in pairs:
        following[source].append(target)
        waiting[target] += 1
    ready = [index for index in range(count) if not waiting[index]]
    heapify(ready)
    order = []
    while ready:
        index = heappop(ready)
        order.append(index)
        for target in following[index]:
            waiting[target] -= 1
            if not waiting[target]:
                heappush(ready, target)
    return order


def ancestors(count: int, pairs: Iterable[Pair], order: Sequence[int]) -> list[int]:
    """For each index, the set of those before it, as bits of a number; only along `order`."""
    preceding: list[list[int]] = [[] for _ in range(count)]
    for source, target in pairs:
        preceding[target].append(source)
    before = [0] * count
    for index in order:
        bits = 0
        for source in preceding[index]:
            bits |= before[source] | (1 << source)
        before[index] = bits
    return before


def cycles(count: int, pairs: Sequence[Pair]) -> list[list[int]]:
    """One cycle of each knot of indexes that lead back to themselves, each in its own order.

    A cycle starts at its lowest index. Every index on some cycle is in a knot; knots are disjoint.
    """
    stuck = set(range(count)) - set(topological_order(count, pairs))
    # Of what is left, drop what only comes after a cycle: follow the pairs the other way.
    reverse = [(target, source) for source, target in pairs if {source, target} <= stuck]
    after = set(topological_order(count, reverse))
    knot = stuck - after
    following: dict[int, list[int]] = {index: [] for index in knot}
    for source, target in pairs:
        if source in knot and target in knot:
            following[source].append(target)
    return _one_cycle_each(knot, following)


def _one_cycle_each(knot: set[int], following: dict[int, list[int]]) -> list[list[int]]:
    """Walk ahead from each index not walked yet; meeting the walk itself closes a cycle."""
    found = []
    walked: set[int] = set()
    for start in sorted(knot):
        walk: list[int] = []
        place: dict[int, int] = {}
        index: int | None = start
        while index is not None and index not in walked:
            walked.add(index)
            place[index] = len(walk)
            walk.append(index)
            ahead = following[index]
            closing = next((other for other in ahead if other in place), None)
            if closing is not None:
                found.append(_from_lowest(walk[place[closing] :]))
                break
            index = next((other for other in ahead if other not in walked), None)
        walked.update(walk)
    return found


def _from_lowest(cycle: list[int]) -> list[int]:
    start = cycle.index(min(cycle))
    return cycle[start:] + cycle[:start]
