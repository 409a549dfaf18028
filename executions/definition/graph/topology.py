"""Compute the order, ancestors and cycles of a body's tasks, which are given by index.

A pair (a, b) means that b comes after a.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

Pair = tuple[int, int]


def topological_order(count: int, pairs: Iterable[Pair]) -> list[int]:
    """Return the indexes below `count` in an order that respects every pair.

    Of the indexes that could come next, the lowest comes first. Indexes on a cycle, or after a
    cycle, are missing from the result.
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
    """Return each index's ancestors as the bits of a number; 0 for indexes missing from `order`."""
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


def cycles(count: int, pairs: Iterable[Pair]) -> list[list[int]]:
    """For each set of indexes that lead to each other, return a shortest cycle through the lowest.

    A cycle starts at that lowest index and follows the pairs.
    """
    following: list[list[int]] = [[] for _ in range(count)]
    preceding: list[list[int]] = [[] for _ in range(count)]
    for source, target in pairs:
        following[source].append(target)
        preceding[target].append(source)
    found = [_cycle_from(min(knot), knot, following) for knot in _knots(following, preceding)]
    return sorted(cycle for cycle in found if cycle)


def _knots(following: list[list[int]], preceding: list[list[int]]) -> list[set[int]]:
    """Return the strongly connected components, using Kosaraju's algorithm."""
    finished: list[int] = []
    seen: set[int] = set()
    for start in range(len(following)):
        _walk(start, following, seen, finished)
    knots = []
    seen = set()
    for start in reversed(finished):
        knot: list[int] = []
        _walk(start, preceding, seen, knot)
        if knot:
            knots.append(set(knot))
    return knots


def _walk(start: int, following: list[list[int]], seen: set[int], finished: list[int]) -> None:
    """Walk depth first from `start`, without recursion; append each index once it is finished."""
    if start in seen:
        return
    seen.add(start)
    open_indexes = [(start, iter(following[start]))]
    while open_indexes:
        index, ahead = open_indexes[-1]
        step = next((other for other in ahead if other not in seen), None)
        if step is None:
            finished.append(index)
            open_indexes.pop()
        else:
            seen.add(step)
            open_indexes.append((step, iter(following[step])))


def _cycle_from(start: int, knot: set[int], following: list[list[int]]) -> list[int]:
    """Return the shortest cycle from `start` within its set; [] if there is none."""
    came_from: dict[int, int] = {}
    queue = deque([start])
    while queue:
        index = queue.popleft()
        for ahead in following[index]:
            if ahead == start:
                return _way(start, index, came_from)
            if ahead in knot and ahead not in came_from:
                came_from[ahead] = index
                queue.append(ahead)
    return []


def _way(start: int, end: int, came_from: dict[int, int]) -> list[int]:
    way = [end]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1]
