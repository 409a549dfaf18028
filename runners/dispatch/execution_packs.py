"""Pack short segments of several executions of one version into one message."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from uuid import UUID

from executions.definition.graph.places import find
from executions.definition.versions import compiled
from runners.dispatch import packing
from runners.dispatch.canvas import Canvas, Chain, Parcel, SegmentLink, segment_of
from runners.dispatch.estimates import packing_rules, serving

Key = tuple[UUID, int, str, str]  # version, priority, segment, queue


def packed_executions(parcels: Sequence[Parcel]) -> list[Parcel]:
    """Return the same work in fewer messages.

    Chords, chains and siblings are not packed. Nor are workflows with variables, because the last
    execution of a pack would read its variables before its claim.
    """
    if len(parcels) < 2:
        return list(parcels)
    alike: dict[Key, list[tuple[Parcel, SegmentLink]]] = defaultdict(list)
    others: list[Parcel] = []
    for item in parcels:
        rest: list[Canvas] = []
        for canvas in item.canvas:
            if isinstance(canvas, Chain) and len(canvas.links) == 1 and not canvas.links[0].others:
                link = canvas.links[0]
                key = (item.version_id, item.priority, link.segment, link.queue)
                alike[key].append((item, link))
            else:
                rest.append(canvas)
        if rest:
            others.append(replace(item, canvas=tuple(rest)))
    return [pack for group in alike.values() for pack in _packs(group)] + others


def _packs(group: Sequence[tuple[Parcel, SegmentLink]]) -> Iterator[Parcel]:
    """Yield the group in as few messages of about equal size as the limits allow."""
    [first, link] = group[0]
    count = len(group)
    messages = -(-count // _together(first, link, count))
    for number in range(messages):
        part = group[number * count // messages : (number + 1) * count // messages]
        (leading, named), *more = part
        yield replace(
            leading,
            canvas=(Chain((named,)),),
            others=tuple(item.execution_id for item, _ in more),
        )


def _together(item: Parcel, link: SegmentLink, count: int) -> int:
    """Return how many of `count` executions one message carries.

    The version is loaded only if there are two executions or more per worker, because the sweeper
    sends runs of many versions at once, with few runs for each version.
    """
    if count < 2 or count < 2 * serving(link.queue):
        return 1
    version = compiled(item.version_id)
    if version.graph.variables:
        return 1
    try:
        place, step = find(version.graph, link.segment)
    except KeyError:
        return 1
    steps = segment_of(place.graph, step)
    rules = packing_rules(version.workflow_id, steps)
    return packing.executions_together(count, steps, rules)
