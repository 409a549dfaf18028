"""Approvals cover the execution in which they were given: where a fork has to ask again.

A fork never runs a step under an approval that its origin was given: it begins right before that
approval instead.
"""

from collections.abc import Mapping
from datetime import datetime

from executions.public.graphs import Compiled, Graph, Place, find
from executions.public.models import WorkflowExecution
from runners.public.forks import APPROVAL
from valkyr_plugins.timetravel import restore_points, statements
from valkyr_plugins.timetravel.points import Point


def asked_again(origin: WorkflowExecution, version: Compiled, point: Point) -> Point:
    """The point, or the latest one before it from which no step runs under an earlier approval.

    `version` is what the fork runs. An approval stays where all that follows it had ended by the
    point: nothing runs under it. A step that waited for a child execution counts as an approval
    where somebody decided in the child.
    """
    while True:
        told = restore_points.params(origin, point)
        decided: dict[str, datetime] = dict(statements.fetch("decided_before", told))
        ended: dict[str, bool] = {}
        if decided or version.id != origin.version_id:
            for path, early, began in statements.fetch("ended_before", told):
                ended[path] = early
                if not early and version.id != origin.version_id and _asks(version.graph, path):
                    decided.setdefault(path, began)  # it was something else in the other version
        course = Course(version.graph, ended)
        unfinished = [(began, path) for path, began in decided.items() if not course.over(path)]
        if not unfinished:
            return point
        at, path = min(unfinished)
        point = Point(at, f"before {path}", before=path)


class Course:
    """What has ended of one version, by the paths of steps: whether anything follows a step yet.

    `ended` says of each step that ended whether it ended its task early: skipped, or by an error.
    """

    def __init__(self, graph: Graph, ended: Mapping[str, bool]) -> None:
        self._graph = graph
        self._ended = ended
        self._known: dict[tuple[str, int], bool] = {}

    def over(self, path: str) -> bool:
        """Whether everything that follows a step has ended, in its body and in those around it.

        True for a step that the version does not have: a fork with it is refused for that.
        """
        try:
            place, step = find(self._graph, path)
        except (KeyError, ValueError):
            return True
        return self._over(place, step.task)

    def _over(self, place: Place, task: int) -> bool:
        key = (place.prefix, task)
        if key not in self._known:
            self._known[key] = all(
                self._has_ended(place, other) for other in following(place.graph, task)
            ) and (place.outer is None or self._over(place.outer, place.container))
        return self._known[key]

    def _has_ended(self, place: Place, task: int) -> bool:
        paths = [
            place.prefix + place.graph.steps[step].path for step in place.graph.tasks[task].steps
        ]
        return paths[-1] in self._ended or any(self._ended.get(path) for path in paths)


def following(graph: Graph, task: int) -> set[int]:
    """A task and all tasks that an edge leads to from it, however far, within its body."""
    found = {task}
    ahead = [task]
    while ahead:
        for edge in graph.tasks[ahead.pop()].outgoing:
            if edge.target not in found:
                found.add(edge.target)
                ahead.append(edge.target)
    return found


def _asks(graph: Graph, path: str) -> bool:
    try:
        _, step = find(graph, path)
    except (KeyError, ValueError):
        return False
    return step.module == APPROVAL
