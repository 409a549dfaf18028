"""Whether a loop's condition holds, seen from one of its iterations."""

from dataclasses import replace
from typing import Any

from executions.definition.graph.places import Place
from runners import statements
from runners.modules.flow import truth
from runners.segment import template_scope
from runners.segment.context import SegmentContext
from runners.segment.template_data import TemplateData, described


def holds(context: SegmentContext, turn: Place, key: str, *, ended: bool) -> bool:
    """Whether a loop's condition holds, seen from a turn that ended, or before the first one."""
    assert turn.outer is not None
    template = turn.outer.graph.steps[turn.task.steps[0]].deferred[key]
    row = statements.fetch_one("current", {"execution": context.execution_id})
    assert row is not None
    variables, payload, started_at = row
    context = replace(context, started_at=started_at, input=payload)
    data = TemplateData(context, turn, variables)
    paths = [
        path
        for levels, task in turn.task.watches
        if levels or ended
        for path in template_scope.task_paths(turn.up(levels), task)
    ]
    if paths:
        data.learn(template_scope.results_of(context.execution_id, paths))
    blank: dict[str, Any] = {"output": None, "outcome": "", "error": None, "history": []}
    tasks = {task.id: blank for task in turn.graph.tasks} | data.outer | data.results
    scope = {
        "input": payload,
        "vars": variables,
        "tasks": tasks,
        "execution": described(context, turn.graph, 1),
        **template_scope.turn(data),
    }
    names = {reference[0] for reference in template.references}
    if "item" in names and (of_map := turn.nearest("map")) is not None:
        template_scope.load_items(data, [of_map.index])
        scope |= template_scope.turn(data)
    if "loop" in names and ended:
        # `until` is of the iteration that ended, `while` of the one that would come.
        data.place = turn.turn(turn.index + (key == "while"))
        template_scope.load_last(data)
        scope |= template_scope.turn(data)
    return truth(template.render(scope))
