"""A level: the tasks and edges of one body during the import, and its nodes' outputs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from valkyr_plugins.n8n.export import NodeLink
from valkyr_plugins.n8n.shape import UNKNOWN, Shape, one

MAX_ALTERNATIVES = 4
PADDING = (24, 78)  # distance in the studio between a container's corner and its body's corner
Branch = Mapping[str, frozenset[str]]  # for each gate: the outcomes that are required


@dataclass(frozen=True, slots=True)
class NodePort:
    """The start of a link: a task and its outcomes; at the start of a level, there is no task.

    The target receives `shape`. The target runs only if each task in `branch` had an outcome that
    is listed there.
    """

    task: str
    on: tuple[str, ...]
    shape: Shape
    branch: Branch = field(default_factory=dict)


@dataclass(slots=True)
class Level:
    """One body: its nodes, and the tasks created so far."""

    names: set[str]
    outer: "Level | None" = None
    tasks: list[dict[str, Any]] = field(default_factory=list)
    edges: dict[tuple[str, str, str], None] = field(default_factory=dict)
    shapes: dict[str, Shape] = field(default_factory=dict)
    ports: dict[NodeLink, NodePort] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)

    @property
    def depth(self) -> int:
        """Return the number of surrounding bodies."""
        return 0 if self.outer is None else self.outer.depth + 1

    def shape(self, name: str) -> Shape | None:
        """Return the shape of a node's output in this or a surrounding body; None if unknown."""
        found = self.shapes.get(name)
        return self.outer.shape(name) if found is None and self.outer is not None else found

    def lead(self, port: NodePort, task: str) -> None:
        """Add an edge from a port to a task, for each of the port's outcomes."""
        for outcome in port.on if port.task else ():
            self.edges[port.task, task, outcome] = None

    def leaves(self) -> list[str]:
        """Return the IDs of the tasks without outgoing edges, whose outputs the body returns."""
        sources = {source for source, _, _ in self.edges}
        return [task["id"] for task in self.tasks if task["id"] not in sources]

    def drawn(self) -> dict[str, Any]:
        """Return the tasks and edges in the form of a definition."""
        edges = [{"from": a, "to": b, "on": on} for a, b, on in self.edges]
        return {"tasks": self.tasks, "edges": edges}

    def settle(self) -> tuple[float, float]:
        """Make the tasks' positions relative to the container; return the container's position."""
        places = [task["ui"] for task in self.tasks]
        left = min((ui["x"] for ui in places), default=0)
        top = min((ui["y"] for ui in places), default=0)
        for ui in places:
            ui["x"], ui["y"] = ui["x"] - left, ui["y"] - top
        return left - PADDING[0], top - PADDING[1]


def met(ports: Iterable[NodePort]) -> tuple[Shape, bool]:
    """Return the merged shape of an input's ports, and whether they are alternatives.

    A skipped task has no output, so the first task with an output is used.
    """
    by_shape: dict[str, NodePort] = {}
    for port in ports:
        by_shape.setdefault(repr(port.shape), port)
    found = list(by_shape.values())
    if len(found) <= 1:
        return (found[0].shape if found else UNKNOWN), False
    own = sorted(found, key=lambda port: not (port.shape.whole or "").startswith("tasks."))
    wholes = [port.shape.whole for port in own]
    if len(found) > MAX_ALTERNATIVES or any(whole is None for whole in wholes):
        return Shape(
            why=("several nodes lead to this one, and it is not known which of them ran")
        ), True
    return one(f"({' or '.join(map(str, wholes))})"), True


def common(ports: Iterable[NodePort]) -> Branch:
    """Return the tasks on which all ports depend, with the outcomes that lead to any port."""
    branches = [
        dict(port.branch) | ({port.task: frozenset(port.on)} if port.task else {}) for port in ports
    ]
    shared = set.intersection(*(set(branch) for branch in branches)) if branches else set()
    return {gate: frozenset().union(*(branch[gate] for branch in branches)) for gate in shared}


def exclude(branches: Iterable[Branch]) -> bool:
    """Return whether a task's outcomes separate two branches, so that at most one is taken."""
    given = list(branches)
    for place, first in enumerate(given):
        for second in given[place + 1 :]:
            if any(first[gate].isdisjoint(second[gate]) for gate in first.keys() & second.keys()):
                return True
    return False


def by_port(
    ports: Mapping[NodeLink, NodePort], links: Iterable[NodeLink]
) -> Iterator[tuple[NodePort, list[NodeLink]]]:
    """Yield the links grouped by port; omit links without a port."""
    groups: dict[int, tuple[NodePort, list[NodeLink]]] = {}
    for link in links:
        if link in ports:
            groups.setdefault(id(ports[link]), (ports[link], []))[1].append(link)
    yield from groups.values()
