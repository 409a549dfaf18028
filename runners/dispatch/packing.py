"""Decide which ready segments share a message: short segments do, long segments are sent alone.

The segments are siblings of one execution, or the same segment of several executions.

A message and a query cost more than a short step. A step without a known duration counts as short:
its pack runs under a time limit (`pack_trial`), which bounds the cost of a wrong guess. This module
is pure: the caller passes the estimates and the number of workers.
"""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from executions.definition.graph.model import Step

# Queues whose steps wait for other systems; in a pack, they would wait one after another.
ALONE = frozenset({"io"})
FLOOR = 1.0  # minimum cost of a step, in ms, because recording a step takes about that long


@dataclass(frozen=True, slots=True)
class Packing:
    """The limits of packs, and functions that return a step's estimated time and a queue's workers.

    `estimate` returns milliseconds, or None if the time is unknown; `workers` returns a number.
    """

    seconds: float  # maximum work in one pack
    most: int  # maximum segments in one pack
    estimate: Callable[[Step], float | None]
    workers: Callable[[str], int]


NONE = Packing(0, 1, lambda _: None, lambda _: 1)


def packed(
    branches: list[Step], segment: Callable[[Step], list[Step]], rules: Packing
) -> list[list[Step]]:
    """Return the branches of one join, given by their first steps, grouped by message.

    `segment` returns the steps of the branch that begins with the given step. Each worker of the
    queue gets a message if there are enough branches, and no pack holds more work than
    `rules.seconds`.
    """
    groups: dict[str, list[tuple[Step, float]]] = defaultdict(list)
    alone: list[list[Step]] = []
    for step in branches:
        cost = _cost(segment(step), rules)
        if cost is None:
            alone.append([step])
        else:
            groups[step.queue].append((step, cost))
    packs = [pack for queue, group in groups.items() for pack in _fill(group, queue, rules)]
    return packs + alone


def executions_together(count: int, steps: list[Step], rules: Packing) -> int:
    """Return how many of `count` executions with these steps one message carries.

    Each worker of the first step's queue gets a message if there are enough executions.
    """
    cost = _cost(steps, rules)
    if cost is None:
        return 1
    in_time = int(1000 * rules.seconds / max(cost, FLOOR))
    return max(1, min(rules.most, count // rules.workers(steps[0].queue), in_time))


def _fill(group: list[tuple[Step, float]], queue: str, rules: Packing) -> list[list[Step]]:
    """Return the group in as few packs of about equal size as the limits allow."""
    most = max(1, min(rules.most, len(group) // rules.workers(queue)))
    wanted = math.ceil(len(group) / most)
    packs: list[list[Step]] = []
    room, part = 0.0, -1
    for position, (step, cost) in enumerate(group):
        if cost > room or part != position * wanted // len(group):
            packs.append([])
            room, part = 1000 * rules.seconds, position * wanted // len(group)
        packs[-1].append(step)
        room -= cost
    return packs


def _cost(steps: list[Step], rules: Packing) -> float | None:
    """Return a branch's estimated duration in milliseconds, or None if it must be sent alone.

    Inline steps are not counted, and each other step counts for at least `FLOOR`.
    """
    total = 0.0
    for step in steps:
        if step.inline:
            continue
        if step.queue in ALONE or step.writes_variables:
            return None
        total += max(FLOOR, rules.estimate(step) or 0.0)
    return total if total <= 1000 * rules.seconds / 2 else None
