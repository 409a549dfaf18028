"""From ready steps to what Celery is sent: single segments, chains across queues, chords.

Pure look-ahead on the graph. It only saves messages and planning: whether a step runs is always
decided from the rows.
"""

from dataclasses import dataclass
from itertools import takewhile

from executions.graph.model import Graph, Step
from executions.graph.places import Place


@dataclass(frozen=True, slots=True)
class Link:
    """One segment: the path of its first step, its queue, and its name in Flower."""

    segment: str
    queue: str
    name: str


@dataclass(frozen=True, slots=True)
class Chain:
    """Segments that follow each other on different queues; mostly a single one."""

    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Chord:
    """Branches that all lead to one join."""

    headers: tuple[Link, ...]


Canvas = Chain | Chord


def link(place: Place, step: Step) -> Link:
    """The segment that begins with this step."""
    path = place.prefix + step.path
    return Link(path, step.queue, f"{place.graph.name}: {path}")


def arrange(place: Place, ready: list[int], *, headers: int, links: int) -> list[Canvas]:
    """How to send these ready steps; `headers` and `links` bound chords and chains."""
    graph = place.graph
    steps = [graph.steps[index] for index in ready]
    joined: dict[int, list[Step]] = {}
    rest: list[Step] = []
    for step in steps:
        join = join_of(graph, step)
        if join is None:
            rest.append(step)
        else:
            joined.setdefault(join, []).append(step)
    canvas: list[Canvas] = []
    for branches in joined.values():
        if len(branches) == 1:
            rest.extend(branches)
            continue
        for start in range(0, len(branches), headers):
            batch = tuple(link(place, step) for step in branches[start : start + headers])
            canvas.append(Chord(batch) if len(batch) > 1 else Chain(batch))
    canvas.extend(Chain(chain_of(place, step, links)) for step in rest)
    return canvas


def ours(canvas: Canvas, remote: frozenset[str]) -> list[Canvas]:
    """What our own workers are sent of it; runs of remote queues wait to be leased.

    A chain ends before the first of them, since what follows is sent when that one is done. A chord
    with such a header would never be complete: its others go one by one, and plan their join.
    """
    links = canvas.links if isinstance(canvas, Chain) else canvas.headers
    if not any(link.queue in remote for link in links):
        return [canvas]
    if isinstance(canvas, Chord):
        return [Chain((link,)) for link in links if link.queue not in remote]
    near = tuple(takewhile(lambda link: link.queue not in remote, links))
    return [Chain(near)] if near else []


def successor(graph: Graph, step: Step) -> Step | None:
    """The one step that must follow this one, if there is no choice and no join between them."""
    if step.following is not None:
        return graph.steps[step.following]
    edges = graph.tasks[step.task].outgoing
    if step.outcomes or step.container or len(edges) != 1 or edges[0].on != "success":
        return None
    target = graph.tasks[edges[0].target]
    return graph.steps[target.steps[0]] if len(target.incoming) == 1 else None


def join_of(graph: Graph, step: Step) -> int | None:
    """The join a branch leads to: one segment, without a choice, on one queue; else None."""
    while True:
        following = successor(graph, step)
        if following is None:
            break
        if following.queue != step.queue:
            return None
        step = following
    edges = graph.tasks[step.task].outgoing
    chooses = step.outcomes or step.container or step.following is not None
    if chooses or len(edges) != 1 or edges[0].on != "success":
        return None
    return edges[0].target


def chain_of(place: Place, step: Step, most: int) -> tuple[Link, ...]:
    """The segments that certainly follow each other from this step, one a change of queue."""
    links = [link(place, step)]
    while len(links) < most:
        following = successor(place.graph, step)
        if following is None:
            break
        if following.queue != step.queue:
            links.append(link(place, following))
        step = following
    return tuple(links)
