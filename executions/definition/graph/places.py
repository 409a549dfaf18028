"""The place of a step: the workflow itself, or one iteration of a container's body.

A place is written as the prefix of its steps' paths: `refine[2].` is the third iteration of the
loop `refine`, `batch[17].inner[0].` is a nested place, and the empty string is the workflow. The
undo steps of a place's tasks have a nested place: `undo:`, `refine[2].undo:`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from executions.definition.graph.document import MAIN
from executions.definition.graph.model import Graph, Step, Task

UNDO = "undo:"  # task IDs cannot contain a colon


@dataclass(frozen=True, slots=True)
class Place:
    """The workflow, whose `outer` is None; one iteration of a body; or the undo steps of either."""

    prefix: str
    graph: Graph
    outer: "Place | None" = None
    container: int = -1  # index of this body's container in the outer graph
    index: int = 0

    @property
    def task(self) -> Task:
        """Return the container's task, in the surrounding graph."""
        assert self.outer is not None
        return self.outer.graph.tasks[self.container]

    @property
    def holder(self) -> str:
        """Return the step path of the container's own run: `refine.main`."""
        assert self.outer is not None
        return self.outer.prefix + self.outer.graph.steps.path(self.task.steps[0])

    @property
    def stem(self) -> str:
        """Return the prefix of all paths inside the container: `refine[`."""
        return self.prefix.rpartition("[")[0] + "["

    def turn(self, index: int) -> "Place":
        """Return the place of another iteration of the same body."""
        assert self.outer is not None
        return within(self.outer, self.container, index)

    def up(self, levels: int) -> "Place":
        """Return the place that is the given number of bodies further out."""
        place = self
        for _ in range(levels):
            assert place.outer is not None
            place = place.outer
        return place

    def nearest(self, kind: str) -> "Place | None":
        """Return the innermost place of a kind (`loop`, `map`) at or above this one, if any."""
        place: Place | None = self
        while place is not None and place.graph.kind != kind:
            place = place.outer
        return place


def within(outer: Place, container: int, index: int) -> Place:
    """Return the place of a container's iteration `index`; the container is in `outer`."""
    task = outer.graph.tasks[container]
    assert task.body is not None
    return Place(f"{outer.prefix}{task.id}[{index}].", task.body, outer, container, index)


def first_turn(outer: Place, container: int) -> Place:
    """Return a container's first iteration, from which other iterations are derived."""
    return within(outer, container, 0)


def split(path: str) -> tuple[str, str]:
    """Split a step path into its place's prefix and the rest: ("refine[2].", "draft.main")."""
    cut = path.rfind("].") + 2
    prefix, inner = (path[:cut], path[cut:]) if cut > 1 else ("", path)
    if inner.startswith(UNDO):
        return prefix + UNDO, inner[len(UNDO) :]
    return prefix, inner


def undoes(path: str) -> bool:
    """Return whether a step path belongs to an undo step."""
    return split(path)[0].endswith(UNDO)


def undo_path(path: str) -> str:
    """Return the path of a task's undo step, from the path of any step of the task."""
    prefix, inner = split(path)
    return f"{prefix}{UNDO}{inner.partition('.')[0]}.{MAIN}"


def place_of(root: Graph, prefix: str) -> Place:
    """Return the place with a prefix. Raises KeyError or ValueError if there is no such place."""
    place = Place("", root)
    for part in prefix.split(".")[:-1] if prefix else ():
        name, _, number = part.rstrip("]").partition("[")
        container = place.graph.task_by_id[name]
        if place.graph.tasks[container].body is None:
            raise KeyError(prefix)
        place = within(place, container, int(number))
    return undo_place(place) if prefix.endswith(UNDO) else place


def undo_place(place: Place) -> Place:
    """Return the place of the undo steps of a place's tasks. Raises KeyError if there are none."""
    if place.graph.undo is None:
        raise KeyError(place.prefix + UNDO)
    return Place(place.prefix + UNDO, place.graph.undo, place, index=place.index)


def find(root: Graph, path: str) -> tuple[Place, Step]:
    """Return the place and the step of a path. Raises KeyError or ValueError if there is none."""
    prefix, inner = split(path)
    place = place_of(root, prefix)
    return place, place.graph.steps[place.graph.by_path[inner]]


def module_in(definition: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    """Return a step's module in a resolved definition; None if the path is unknown."""
    *names, module_id = re.sub(rf"\[\d+\]|{UNDO}", "", path).split(".")
    body: Mapping[str, Any] = definition
    for name in names:
        task = next((task for task in body.get("tasks", []) if task.get("id") == name), None)
        if task is None:
            return None
        body = task.get("body") or {}
        modules = [task["undo"]] if undoes(path) and "undo" in task else task.get("modules", [])
    return next((module for module in modules if module.get("id") == module_id), None)
