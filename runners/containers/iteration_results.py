"""Read the results of a body's iterations, and evaluate a loop's conditions, from the rows."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from executions.definition.graph.places import Place, split
from executions.definition.templates import Template
from executions.definition.templating.budget import while_planning
from executions.sealing.sealer import opened, opened_text
from runners import statements
from runners.modules.flow import truth
from runners.segment import stored_results, template_data
from runners.segment.context import SegmentContext
from runners.segment.state import SegmentState
from runners.segment.template_data import TemplateData, described

COLLECTED = 5_000  # maximum results read in one query


def outputs(state: SegmentState, place: Place, total: int) -> list[Any]:
    """Return the results of a map's items, in the order of the items."""
    wanted = sink_paths(place, total)
    values: dict[str, Any] = {}
    for first in range(0, len(wanted), COLLECTED):
        found = statements.fetch(
            "outputs_of_steps",
            {
                "execution": state.context.execution_id,
                "epoch": state.context.epoch,
                "paths": wanted[first : first + COLLECTED],
            },
        )
        for path, stored in found:
            values[path] = opened(state.context.execution_id, stored, "outputs", path)
    return collected(
        place, total, values, failures(state, place.stem) if place.task.tolerant else ()
    )


def sink_paths(place: Place, total: int) -> list[str]:
    """Return the paths of the last steps in a map's items; their outputs are the items' results."""
    graph = place.graph
    return [
        place.turn(index).prefix + graph.steps[graph.tasks[task].steps[-1]].path
        for index in range(total)
        for task in graph.sinks
    ]


def collected(
    place: Place, total: int, values: Mapping[str, Any], failed: Iterable[tuple[Any, ...]] = ()
) -> list[Any]:
    """Return the result of each item, from the outputs that were found at `sink_paths`.

    This function is pure. `failed` are the failures in a tolerant map's body, as `failures` returns
    them.
    """
    paths = iter(sink_paths(place, total))
    names = [place.graph.tasks[task].id for task in place.graph.sinks]
    outputs: list[Any] = []
    for _ in range(total):
        item = {name: values.get(next(paths)) for name in names}
        outputs.append(item if len(names) > 1 else item[names[0]])
    _mark_failures(place, outputs, failed)
    return outputs


def _mark_failures(place: Place, outputs: list[Any], failed: Iterable[tuple[Any, ...]]) -> None:
    """Replace a failed item's output with the first failure that no edge in the body handled."""
    stem = place.stem
    marked: set[int] = set()
    for path, message, kind in failed:
        prefix, inner = split(path)
        number = prefix[len(stem) :].partition("]")[0]
        if prefix != f"{stem}{number}]." or int(number) in marked:
            continue
        if not minded(place, inner):
            marked.add(int(number))
            outputs[int(number)] = {"error": {"message": message, "type": kind, "step": path}}


def minded(place: Place, inner: str) -> bool:
    """Return whether an edge in the body that contains the step handles the step's failure."""
    step = place.graph.steps[place.graph.by_path[inner]]
    return place.graph.tasks[step.task].handles_error


def failures(state: SegmentState, prefix: str) -> list[tuple[Any, ...]]:
    """Return the failures with the outcome `error` below a prefix: (path, message, error type)."""
    execution = state.context.execution_id
    found = statements.fetch(
        "failures", {"execution": execution, "epoch": state.context.epoch, "prefix": prefix}
    )
    return [
        (path, opened_text(execution, message, "error", path), kind)
        for path, message, kind in found
    ]


# Evaluate the condition of a loop for one of its iterations.


def condition_holds(context: SegmentContext, turn: Place, key: str, *, ended: bool) -> bool:
    """Return whether the condition `key` holds after an iteration (`ended`) or before the first."""
    assert turn.outer is not None
    template = turn.outer.graph.steps[turn.task.steps[0]].deferred[key]
    variables, payload, started_at = template_data.current(context.execution_id)
    context = replace(context, started_at=started_at, input=payload)
    return holds(TemplateData(context, turn, variables), template, key, ended=ended)


def watched_paths(turn: Place, *, ended: bool) -> list[str]:
    """Return the paths of the steps that a loop's conditions read; in the body only if `ended`."""
    return [
        path
        for levels, task in turn.task.watches
        if levels or ended
        for path in template_data.task_paths(turn.up(levels), task)
    ]


def holds(data: TemplateData, template: Template, key: str, *, ended: bool) -> bool:
    """Return whether the condition `key` holds, using results that `data.source` loads."""
    turn, context = data.place, data.context
    paths = watched_paths(turn, ended=ended)
    if paths:
        data.learn(data.source.results(context.execution_id, paths))
    blank: dict[str, Any] = {"output": None, "outcome": "", "error": None, "history": []}
    tasks = {task.id: blank for task in turn.graph.tasks} | data.outer | data.results
    scope = {
        "input": context.input,
        "vars": data.variables,
        "tasks": tasks,
        "execution": described(context, turn.graph, 1),
        **template_data.turn(data),
    }
    names = {reference[0] for reference in template.references}
    if "item" in names and (of_map := turn.nearest("map")) is not None:
        template_data.load_items(data, [of_map.index])
        scope |= template_data.turn(data)
    if "loop" in names and ended:
        # `until` is evaluated for the iteration that ended, `while` for the next one.
        data.place = turn.turn(turn.index + (key == "while"))
        template_data.load_last(data)
        scope |= template_data.turn(data)
    stored_results.refuse(template.references, scope)
    return truth(template.render(scope, while_planning()))
