"""The order of the nodes, derived from their links except those that close loops."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from valkyr_plugins.n8n.export import MAIN, Export, Node, NodeLink

LOOP = "splitInBatches"


def loop_ports(node: Node) -> tuple[int, int]:
    """Return the indexes of a loop node's outputs: to its body, and to the nodes after the loop."""
    return (1, 0) if node.version >= 3 else (0, 1)


@dataclass(slots=True)
class LinkGraph:
    """The links of a workflow, without links to earlier nodes.

    `bodies` are the bodies of simple loops, keyed by the loop's node, and `back` are the links that
    close these loops. `cut` are the links that close other cycles.
    """

    nodes: dict[str, Node]
    order: list[str] = field(default_factory=list)
    outgoing: dict[str, list[NodeLink]] = field(default_factory=dict)
    incoming: dict[str, list[NodeLink]] = field(default_factory=dict)
    before: dict[str, set[str]] = field(default_factory=dict)
    bodies: dict[str, set[str]] = field(default_factory=dict)
    back: dict[str, list[NodeLink]] = field(default_factory=dict)
    cut: list[NodeLink] = field(default_factory=list)
    helpers: dict[str, list[tuple[str, Node]]] = field(default_factory=dict)


def graph_of(export: Export, flowing: Sequence[str]) -> LinkGraph:
    """Return the graph of the nodes in `flowing`, which pass data on, and the helpers of each node.

    Nodes after triggers are visited first, so the cut links lead back towards the triggers.
    """
    names = set(flowing)
    ends = [link.target for link in export.links if link.source not in names]
    begun = [name for name in ends if name in names]
    nodes = {node.name: node for node in export.nodes}
    graph = LinkGraph(nodes)
    links = []
    for link in export.links:
        if link.kind != MAIN:
            graph.helpers.setdefault(link.target, []).append((link.kind, nodes[link.source]))
        elif link.source in names and link.target in names:
            links.append(link)
    links = _without_ways_back(graph, links, flowing)
    links = _without_cycles(graph, links, [*begun, *flowing])
    _arrange(graph, links, flowing)
    return graph


def reachable(
    start: Iterable[str], links: dict[str, list[NodeLink]], stop: Collection[str]
) -> set[str]:
    """Return the nodes reachable from `start`, including `start`, without the nodes of `stop`."""
    found: set[str] = set()
    pending = [name for name in start if name not in stop]
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found.add(name)
        pending += [link.target for link in links.get(name, ()) if link.target not in stop]
    return found


def _without_ways_back(
    graph: LinkGraph, links: list[NodeLink], names: Sequence[str]
) -> list[NodeLink]:
    """Move the links that close simple loops into `graph.back`; return the remaining links."""
    out, into = _by_ends(links)
    back: set[NodeLink] = set()
    for name in names:
        if graph.nodes[name].kind != LOOP:
            continue
        port, done = loop_ports(graph.nodes[name])
        starts = [link.target for link in out.get(name, ()) if link.output == port]
        body = reachable(starts, out, {name})
        after = {link.target for link in out.get(name, ()) if link.output == done}
        plain = not (after - {name}) & body and all(
            link.source in body or (link.source == name and link.output == port)
            for inner in body
            for link in into.get(inner, ())
        )
        ways = {link for link in into.get(name, ()) if link.source in body or link.source == name}
        if plain:
            graph.bodies[name] = body
            graph.back[name] = sorted(ways, key=lambda link: (link.source, link.output))
            back |= ways
    return [link for link in links if link not in back]


def _without_cycles(
    graph: LinkGraph, links: list[NodeLink], names: Sequence[str]
) -> list[NodeLink]:
    """Move links that close other cycles into `cut`; return the remaining links."""
    out, _ = _by_ends(links)
    state: dict[str, int] = {}
    for start in names:
        pending: list[tuple[str, int]] = [(start, 0)]
        while pending:
            name, place = pending.pop()
            if place == 0:
                if state.get(name):
                    continue
                state[name] = 1
            following = out.get(name, [])
            while place < len(following):
                link = following[place]
                place += 1
                if state.get(link.target) == 1:
                    graph.cut.append(link)
                elif not state.get(link.target):
                    pending += [(name, place), (link.target, 0)]
                    break
            else:
                state[name] = 2
    return [link for link in links if link not in set(graph.cut)]


def _arrange(graph: LinkGraph, links: list[NodeLink], names: Sequence[str]) -> None:
    """Fill the graph; sources precede their targets, and nodes without sources keep their order."""
    graph.outgoing, graph.incoming = _by_ends(links)
    waiting = {name: len(graph.incoming.get(name, ())) for name in names}
    ready = [name for name in names if not waiting[name]]
    while ready:
        name = ready.pop(0)
        graph.order.append(name)
        sources = {link.source for link in graph.incoming.get(name, ())}
        graph.before[name] = sources.union(*(graph.before[source] for source in sources))
        for link in graph.outgoing.get(name, ()):
            waiting[link.target] -= 1
            if not waiting[link.target]:
                ready.append(link.target)


def _by_ends(
    links: Iterable[NodeLink],
) -> tuple[dict[str, list[NodeLink]], dict[str, list[NodeLink]]]:
    out: dict[str, list[NodeLink]] = {}
    into: dict[str, list[NodeLink]] = {}
    for link in links:
        out.setdefault(link.source, []).append(link)
        into.setdefault(link.target, []).append(link)
    return out, into
