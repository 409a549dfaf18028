"""Turn ready steps into Celery messages: single segments, chains across queues, and chords.

A canvas is computed from the graph and the packing rules, and saves messages and planning. The
runs' rows always decide whether a step runs.
"""

from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from uuid import UUID

from executions.definition.graph.model import Graph, Step
from executions.definition.graph.places import Place
from runners.dispatch import packing
from runners.dispatch.packing import Packing


@dataclass(frozen=True, slots=True)
class SegmentLink:
    """One segment: the path of its first step, its queue, and its name in Flower.

    `others` are the paths of sibling segments in the same message; the worker runs them one by one.
    """

    segment: str
    queue: str
    name: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """Segments that run one after another on different queues; usually only one segment."""

    links: tuple[SegmentLink, ...]


@dataclass(frozen=True, slots=True)
class Chord:
    """Sibling segments that all lead to the same join."""

    headers: tuple[SegmentLink, ...]


Canvas = Chain | Chord
# The number of packs of a fork from which Celery counts the completed packs with a chord. With
# fewer packs, each pack checks whether it was the last: this costs less than counters, their
# results and a message to the planner.
COUNTED = 5


@dataclass(frozen=True, slots=True)
class Parcel:
    """Ready work of one execution or, with `others`, the same segment of several executions.

    `others` are further executions of the same version. The message also contains their segments,
    which have the same path. The canvas is then a single segment.
    """

    execution_id: UUID
    version_id: UUID
    priority: int
    canvas: tuple[Canvas, ...]
    others: tuple[UUID, ...] = ()


def link(place: Place, step: Step, *others: Step) -> SegmentLink:
    """Return the segment that begins with this step, with `others` in the same message."""
    path = place.prefix + step.path
    paths = tuple(place.prefix + other.path for other in others)
    name = f"{place.graph.name}: {path}"
    return SegmentLink(path, step.queue, f"{name} and {len(paths)} more" if paths else name, paths)


def arrange(
    place: Place, ready: list[int], *, headers: int, links: int, rules: Packing = packing.NONE
) -> list[Canvas]:
    """Arrange ready steps into chords (at most `headers` long) and chains (at most `links` long).

    `rules` determine how the branches of a join are packed into messages.
    """
    graph = place.graph
    forks = fork_of(graph, ready)
    forked = {step.index for branches in forks.values() for step in branches}
    canvas: list[Canvas] = []
    for branches in forks.values():
        packs = packing.packed(branches, partial(segment_of, graph), rules)
        for start in range(0, len(packs), headers):
            batch = tuple(link(place, *pack) for pack in packs[start : start + headers])
            alone = len(batch) == 1 and not batch[0].others
            if alone or len(packs) < min(COUNTED, len(branches)):
                canvas.extend(Chain((one,)) for one in batch)
            else:
                canvas.append(Chord(batch))
    rest = [graph.steps[index] for index in ready if index not in forked]
    canvas.extend(Chain(chain_of(place, step, links)) for step in rest)
    return canvas


def fork_of(graph: Graph, ready: list[int]) -> dict[int, list[Step]]:
    """Return the ready steps, grouped by the join to which they lead; omit groups of one step."""
    joined: dict[int, list[Step]] = {}
    for index in ready:
        join = join_of(graph, graph.steps[index])
        if join is not None:
            joined.setdefault(join, []).append(graph.steps[index])
    return {join: branches for join, branches in joined.items() if len(branches) > 1}


def ours(canvas: Canvas, remote: frozenset[str]) -> list[Canvas]:
    """Return the part of a canvas for Valkyr's own workers; runs of remote queues wait for a lease.

    A chain ends before its first remote segment, which becomes ready when the previous segment is
    done. A chord with a remote header would never complete, so its other headers are sent
    separately, and the step that ends last plans the join.
    """
    links = canvas.links if isinstance(canvas, Chain) else canvas.headers
    if not any(link.queue in remote for link in links):
        return [canvas]
    if isinstance(canvas, Chord):
        return [Chain((link,)) for link in links if link.queue not in remote]
    near = tuple(takewhile(lambda link: link.queue not in remote, links))
    return [Chain(near)] if near else []


def successor(graph: Graph, step: Step) -> Step | None:
    """Return the only possible next step; None at an end, a choice, a container or a join."""
    if step.following is not None:
        return graph.steps[step.following]
    edges = graph.tasks[step.task].outgoing
    if step.outcomes or step.container or len(edges) != 1 or edges[0].on != "success":
        return None
    target = graph.tasks[edges[0].target]
    return graph.steps[target.steps[0]] if len(target.incoming) == 1 else None


def segment_of(graph: Graph, step: Step) -> list[Step]:
    """Return a step and the steps sure to follow, up to a choice, a container, a join or an end."""
    steps = [step]
    while (following := successor(graph, steps[-1])) is not None:
        steps.append(following)
    return steps


def join_of(graph: Graph, step: Step) -> int | None:
    """Return the index of the join to which the step's segment leads.

    Returns None if the segment changes its queue, or ends at a choice, a container or an end.
    """
    steps = segment_of(graph, step)
    if any(following.queue != step.queue for following in steps):
        return None
    step = steps[-1]
    edges = graph.tasks[step.task].outgoing
    chooses = step.outcomes or step.container or step.following is not None
    if chooses or len(edges) != 1 or edges[0].on != "success":
        return None
    return edges[0].target


def chain_of(place: Place, step: Step, most: int) -> tuple[SegmentLink, ...]:
    """Return at most `most` links: one for the step, then one for each certain change of queue."""
    links = [link(place, step)]
    while len(links) < most:
        following = successor(place.graph, step)
        if following is None:
            break
        if following.queue != step.queue:
            links.append(link(place, following))
        step = following
    return tuple(links)
