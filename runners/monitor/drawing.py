"""A version's graph as it is drawn: boxes for tasks, boxes around bodies, lines for edges.

Pure: a Graph in, numbers out. A body is drawn like a workflow and stands inside its container.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from executions.definition.graph.definition import SUCCESS
from executions.definition.graph.model import Edge, Graph, Task
from runners.monitor.layers import Layers, layered
from runners.monitor.places import ACROSS, BAND_GAP, Places, Point, placed

BOX_WIDTH, BOX_HEIGHT = 184.0, 48.0
CHAIN_HEAD, CHAIN_ROW = 30.0, 24.0
HEAD, MARGIN = 54.0, 18.0  # of a container's box: above its body, and around it
LEAST_CONTAINER = 240.0


@dataclass(frozen=True, slots=True)
class Box:
    """A task: its path without turns (`refine.draft`), and the steps it is made of.

    `parent` is the path of the container it stands in, "" for the workflow. `container` is "loop",
    "map" or "".
    """

    path: str
    title: str
    container: str
    parent: str
    steps: tuple[tuple[str, str], ...]  # (step path without turns, module)
    x: float
    y: float
    w: float
    h: float


@dataclass(frozen=True, slots=True)
class Line:
    """An edge; `points` lead from the right side of a box to the left side of another."""

    source: str
    target: str
    on: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """All boxes, containers before what stands in them, and all lines."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    width: float
    height: float


def draw(graph: Graph, parent: str = "") -> Drawing:
    """The drawing of a workflow, or of one container's body."""
    inner = [_inside(task, parent) for task in graph.tasks]
    sizes = [_size(task, body) for task, body in zip(graph.tasks, inner, strict=True)]
    edges = [edge for task in graph.tasks for edge in task.outgoing]
    layers = layered(len(sizes), [(edge.source, edge.target) for edge in edges], graph.order)
    places = placed(layers, sizes)
    boxes: list[Box] = []
    lines: list[Line] = []
    for task, body, size in zip(graph.tasks, inner, sizes, strict=True):
        corner = places.x[task.index], places.y[task.index]
        boxes.append(_box(graph, task, parent, corner, size))
        if body is not None:
            moved = _moved(body, corner[0] + (size[0] - body.width) / 2, corner[1] + HEAD)
            boxes += moved.boxes
            lines += moved.lines
    lines += _lines(graph, edges, parent, layers, places, sizes)
    return Drawing(tuple(boxes), tuple(lines), places.width, places.height)


def _path(parent: str, name: str) -> str:
    return f"{parent}.{name}" if parent else name


def _inside(task: Task, parent: str) -> Drawing | None:
    return None if task.body is None else draw(task.body, _path(parent, task.id))


def _size(task: Task, body: Drawing | None) -> tuple[float, float]:
    if body is not None:
        width = max(LEAST_CONTAINER, body.width + 2 * MARGIN)
        return width, HEAD + body.height + MARGIN
    if len(task.steps) == 1:
        return BOX_WIDTH, BOX_HEIGHT
    return BOX_WIDTH, CHAIN_HEAD + CHAIN_ROW * len(task.steps)


def _box(graph: Graph, task: Task, parent: str, corner: Point, size: Point) -> Box:
    steps = [graph.steps[index] for index in task.steps]
    return Box(
        path=_path(parent, task.id),
        title=task.name,
        container=task.body.kind if task.body is not None else "",
        parent=parent,
        steps=tuple((_path(parent, step.path), step.module) for step in steps),
        x=corner[0],
        y=corner[1],
        w=size[0],
        h=size[1],
    )


def _moved(drawing: Drawing, x: float, y: float) -> Drawing:
    boxes = tuple(replace(box, x=box.x + x, y=box.y + y) for box in drawing.boxes)
    lines = tuple(
        replace(line, points=tuple((px + x, py + y) for px, py in line.points))
        for line in drawing.lines
    )
    return Drawing(boxes, lines, drawing.width, drawing.height)


def _lines(
    graph: Graph,
    edges: Sequence[Edge],
    parent: str,
    layers: Layers,
    places: Places,
    sizes: Sequence[Point],
) -> Iterator[Line]:
    for index, edge in enumerate(edges):
        source, target = edge.source, edge.target
        start = places.x[source] + sizes[source][0], places.y[source] + sizes[source][1] / 2
        end = places.x[target], places.y[target] + sizes[target][1] / 2
        if places.band[source] == places.band[target]:
            way = [(places.x[bend], places.y[bend]) for bend in layers.bends.get(index, ())]
        else:
            way = _around(start, end, places.band[target] * places.step)
        yield Line(
            _path(parent, graph.tasks[source].id),
            _path(parent, graph.tasks[target].id),
            "" if edge.on == SUCCESS else edge.on,
            (start, *way, end),
        )


def _around(start: Point, end: Point, top: float) -> list[Point]:
    """From one band into a later one: down beside the one, along the gap above the other."""
    gap = top - BAND_GAP / 2
    right, left = start[0] + ACROSS / 2, end[0] - ACROSS / 2
    return [(right, start[1]), (right, gap), (left, gap), (left, end[1])]
