"""Which ready segments one message carries: short ones together, the others alone.

They are siblings of one execution, or the same segment of several.

A message and a look at the rows cost more than a short step. A step that nobody has timed is taken
for a short one: a pack that holds one is carried under a time limit (`pack_trial`), which bounds
the cost of a wrong guess. Pure: estimates and the number of workers are given.
"""

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from executions.definition.graph.model import Step

ALONE = frozenset({"io"})  # queues whose steps wait for others: together they would wait in a row
FLOOR = 1.0  # ms a step at least: what recording it takes, however short its work


@dataclass(frozen=True, slots=True)
class Packing:
    """The rules, and what they ask: a step's estimated milliseconds, a queue's workers."""

    seconds: float  # of work in one pack, at most
    most: int  # segments in one pack, at most
    estimate: Callable[[Step], float | None]
    workers: Callable[[str], int]


NONE = Packing(0, 1, lambda _: None, lambda _: 1)


def packed(
    branches: list[Step], segment: Callable[[Step], list[Step]], rules: Packing
) -> list[list[Step]]:
    """The branches of one join (their first steps), those that go together in one list.

    `segment` tells the steps that a branch's first one leads through. At least as many messages
    go out as workers serve the queue, and no pack holds more work than `rules.seconds`.
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
    """How many of `count` executions one message carries, each of which leads through these steps.

    At least as many messages go out as workers serve the queue of the first step.
    """
    cost = _cost(steps, rules)
    if cost is None:
        return 1
    in_time = int(1000 * rules.seconds / max(cost, FLOOR))
    return max(1, min(rules.most, count // rules.workers(steps[0].queue), in_time))


def _fill(group: list[tuple[Step, float]], queue: str, rules: Packing) -> list[list[Step]]:
    """As few packs as the bounds allow, none much larger than another."""
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
    """The estimated milliseconds of a branch, or the least; None where it has to go alone."""
    total = 0.0
    for step in steps:
        if step.inline:
            continue
        if step.queue in ALONE or step.writes_variables:
            return None
        total += max(FLOOR, rules.estimate(step) or 0.0)
    return total if total <= 1000 * rules.seconds / 2 else None
