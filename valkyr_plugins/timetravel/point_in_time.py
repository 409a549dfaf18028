"""A point in an execution's past, and the runs that belong to it. This module is pure.

A run belongs to a point if it succeeded, was skipped or took an error edge by then. Every step
starts after its predecessors were recorded, so a point that includes a run also includes all runs
on which it depends.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

LAST = UUID(int=2**128 - 1)  # the highest possible ID


@dataclass(frozen=True, slots=True)
class Point:
    """A moment on the database's clock; `label` names it for users.

    If runs ended in the same microsecond, those up to the ID `last` belong to the point. `before`
    is the path of a step that does not belong to the point, although its time may be the same.
    """

    at: datetime
    label: str
    last: UUID = LAST
    before: str = ""


def holders(places: Iterable[str]) -> list[str]:
    """Return the sorted step paths of the containers around these places.

    Around `refine[2].inner[0].` are `refine.main` and `refine[2].inner.main`.
    """
    found: set[str] = set()
    for place in places:
        parts = place.split(".")[:-1]
        for depth, part in enumerate(parts):
            found.add(".".join([*parts[:depth], part.partition("[")[0], "main"]))
    return sorted(found)


def written(
    base: Mapping[str, Any], writes: Iterable[Any], declared: Collection[str]
) -> dict[str, Any]:
    """Return the variables after the writes of some steps, in order; ignore undeclared names.

    `writes` are the outputs of those steps, which consist of the variables that each step wrote.
    """
    variables = dict(base)
    for outputs in writes:
        if isinstance(outputs, Mapping):
            variables |= {name: value for name, value in outputs.items() if name in declared}
    return variables


def retimed(
    spans: Sequence[tuple[datetime, datetime | None]], now: datetime
) -> list[tuple[datetime, datetime | None]]:
    """Return the same spans in the same order, with all times 1 µs apart; the latest is `now`.

    So runs that are copied into a new execution lie in its lifetime, and each end is a distinct
    point.
    """
    moments = sorted(
        (at, number, which)
        for number, span in enumerate(spans)
        for which, at in enumerate(span)
        if at is not None
    )
    fresh: list[list[datetime | None]] = [[None, None] for _ in spans]
    for position, (_, number, which) in enumerate(reversed(moments)):
        fresh[number][which] = now - timedelta(microseconds=position)
    return [(begun or now, ended) for begun, ended in fresh]
