"""What a step's templates read, loaded from the rows: results, a map's item, a loop's past."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from executions.definition.graph.definition import CALLBACK_URL
from executions.definition.graph.model import Graph, Step
from executions.definition.graph.places import Place
from runners import statements
from runners.segment.callback_urls import url_of

if TYPE_CHECKING:
    from runners.segment.template_data import TemplateData

MAX_HISTORY = 1_000  # outputs a task
MAX_HISTORIES = 10_000  # and a rendering


def complete(data: "TemplateData", step: Step) -> None:
    """Load what the step's templates read and nobody loaded yet."""
    paths = missing(data, step)
    if paths:
        data.learn(results_of(data.context.execution_id, paths))
    if step.reads_item:
        _load_item(data)
    if step.reads_last:
        load_last(data)


def results_of(execution_id: UUID, paths: list[str]) -> list[tuple[Any, ...]]:
    """The rows of finished steps' results, as `TemplateData.learn` takes them."""
    return statements.fetch("results", {"execution": execution_id, "reads": paths})


def missing(data: "TemplateData", step: Step) -> list[str]:
    """The paths of steps whose results this step's templates read and nobody loaded yet."""
    graph = data.graph
    paths = [
        path
        for task in step.reads
        if graph.tasks[task].id not in data.results
        for path in task_paths(data.place, task)
    ]
    for levels, task in step.outer_reads:
        place = data.place.up(levels)
        if place.graph.tasks[task].id not in data.outer:
            paths += task_paths(place, task)
    if step.reads_previous and step.previous is not None and step.previous not in data.chain:
        paths.append(data.prefix + graph.steps.path(step.previous))
    return paths


def reads_of(place: Place, step: Step) -> list[str]:
    """The paths of all steps whose results a step's templates read."""
    paths = [path for task in step.reads for path in task_paths(place, task)]
    for levels, task in step.outer_reads:
        paths += task_paths(place.up(levels), task)
    if step.reads_previous and step.previous is not None:
        paths.append(place.prefix + place.graph.steps.path(step.previous))
    return paths


def task_paths(place: Place, task: int) -> list[str]:
    """The paths of a task's steps."""
    return [place.prefix + place.graph.steps.path(i) for i in place.graph.tasks[task].steps]


def last_paths(place: Place) -> list[str]:
    """The paths of the last step of each task: what a turn's outputs are read from.

    A failed task ends with another step, which has no output.
    """
    return [place.prefix + place.graph.steps.path(task.steps[-1]) for task in place.graph.tasks]


def turn(data: "TemplateData") -> dict[str, Any]:
    """`item`, `index` and `loop` of the nearest map and loop."""
    scope: dict[str, Any] = {}
    of_map, of_loop = data.place.nearest("map"), data.place.nearest("loop")
    if of_map is not None:
        scope["index"] = of_map.index
        scope["item"] = data.items.get(of_map.index)
    if of_loop is not None:
        scope["loop"] = {
            "index": of_loop.index,
            "iteration": of_loop.index + 1,
            "previous": data.last,
        }
    return scope


def load_items(data: "TemplateData", indexes: list[int]) -> None:
    """Load items of the nearest map."""
    place = data.place.nearest("map")
    assert place is not None
    found = statements.fetch(
        "items",
        {
            "execution": data.context.execution_id,
            "epoch": data.context.epoch,
            "path": place.holder,
            "indexes": indexes,
        },
    )
    data.items = dict(found)


def outputs_of_turn(data: "TemplateData", place: Place) -> dict[str, Any]:
    """The outputs of one turn's tasks by id; null where a task was skipped or failed."""
    paths = dict(zip(last_paths(place), place.graph.tasks, strict=True))
    outputs: dict[str, Any] = {task.id: None for task in place.graph.tasks}
    rows = results_of(data.context.execution_id, list(paths))
    for path, state, _, value, *_ in rows:
        if state == "SUCCESS":
            outputs[paths[path].id] = value
    return outputs


def with_histories(data: "TemplateData", step: Step) -> dict[str, Any]:
    """The tasks whose `history` the step reads, with it."""
    graph = data.graph
    for task in step.histories:
        name = graph.tasks[task].id
        if name not in data.histories:
            data.histories[name] = _history(data, graph, task, len(step.histories))
    blank = {"output": None, "outcome": "", "error": None}
    return {
        name: data.results.get(name, blank) | {"history": data.histories[name]}
        for name in (graph.tasks[task].id for task in step.histories)
    }


def with_callback_urls(data: "TemplateData", step: Step, tasks: dict[str, Any]) -> dict[str, Any]:
    """The tasks whose `callbackUrl` the step reads, with it; they need not have started."""
    found = {}
    for levels, task in step.callbacks:
        place = data.place.up(levels)
        name, path = place.graph.tasks[task].id, task_paths(place, task)[-1]
        blank = {"output": None, "outcome": "", "error": None}
        found[name] = tasks.get(name, blank) | {
            CALLBACK_URL: url_of(data.context.execution_id, path)
        }
    return found


def _history(data: "TemplateData", graph: Graph, task: int, sharing: int) -> list[Any]:
    most = min(MAX_HISTORY, MAX_HISTORIES // sharing)
    place = data.place
    indexes = range(max(0, place.index - most), place.index)
    last = graph.steps[graph.tasks[task].steps[-1]].path
    paths = {f"{place.turn(index).prefix}{last}": index for index in indexes}
    rows = results_of(data.context.execution_id, list(paths))
    found = {paths[row[0]]: row[3] for row in rows if row[1] == "SUCCESS"}
    return [found[index] for index in sorted(found)]


def _load_item(data: "TemplateData") -> None:
    place = data.place.nearest("map")
    if place is not None and place.index not in data.items:
        load_items(data, [place.index])


def load_last(data: "TemplateData") -> None:
    """Load the outputs of the iteration before, of the nearest loop."""
    place = data.place.nearest("loop")
    if place is not None and place.index and data.last is None:
        data.last = outputs_of_turn(data, place.turn(place.index - 1))
