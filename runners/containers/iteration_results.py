"""What the turns of a body came to, read from their rows."""

from typing import Any

from executions.definition.graph.places import Place, split
from runners import statements
from runners.segment.state import SegmentState

COLLECTED = 5_000  # results read in one query


def outputs(state: SegmentState, place: Place, total: int) -> list[Any]:
    """What each item came to, in the items' order."""
    graph = place.graph
    sinks = [graph.tasks[task] for task in graph.sinks]
    paths: dict[str, tuple[int, str]] = {}
    for index in range(total):
        prefix = place.turn(index).prefix
        for task in sinks:
            paths[prefix + graph.steps[task.steps[-1]].path] = (index, task.id)
    names = [task.id for task in sinks]
    blank: dict[str, Any] | None = dict.fromkeys(names) if len(names) > 1 else None
    outputs: list[Any] = [blank if blank is None else dict(blank) for _ in range(total)]
    wanted = list(paths)
    for first in range(0, len(wanted), COLLECTED):
        found = statements.fetch(
            "collect",
            {
                "execution": state.context.execution_id,
                "epoch": state.context.epoch,
                "paths": wanted[first : first + COLLECTED],
            },
        )
        for path, value in found:
            index, name = paths[path]
            if blank is None:
                outputs[index] = value
            else:
                outputs[index][name] = value
    if place.task.tolerant:
        _markfailures(state, place, outputs)
    return outputs


def _markfailures(state: SegmentState, place: Place, outputs: list[Any]) -> None:
    """An item in which a failure was not minded by an edge comes to that failure."""
    stem = place.stem
    marked: set[int] = set()
    for path, message, kind in failures(state, stem):
        prefix, inner = split(path)
        number = prefix[len(stem) :].partition("]")[0]
        if prefix != f"{stem}{number}]." or int(number) in marked:
            continue
        if not minded(place, inner):
            marked.add(int(number))
            outputs[int(number)] = {"error": {"message": message, "type": kind, "step": path}}


def minded(place: Place, inner: str) -> bool:
    """Whether an edge of its own takes the failure of a step of this body."""
    step = place.graph.steps[place.graph.by_path[inner]]
    return place.graph.tasks[step.task].handles_error


def failures(state: SegmentState, prefix: str) -> list[tuple[Any, ...]]:
    """The minded failures of all steps whose path begins so: (path, message, class of error)."""
    return statements.fetch(
        "failures",
        {"execution": state.context.execution_id, "epoch": state.context.epoch, "prefix": prefix},
    )
