"""Whether a loop's condition holds, seen from one of its iterations."""

from typing import Any

from executions.definition.graph.places import Place
from runners import statements
from runners.modules.flow import truth
from runners.segment import template_scope
from runners.segment.state import Journey


def holds(journey: Journey, turn: Place, key: str, *, ended: bool) -> bool:
    """Whether a loop's condition holds, seen from a turn that ended, or before the first one."""
    assert turn.outer is not None
    template = turn.outer.graph.steps[turn.task.steps[0]].deferred[key]
    row = statements.fetch_one("current", {"execution": journey.execution_id})
    assert row is not None
    variables, payload, started_at = row
    seen = Journey(
        execution_id=journey.execution_id,
        version=journey.version,
        place=turn,
        segment="",
        queue="",
        epoch=journey.epoch,
        priority=journey.priority,
        started_at=started_at,
        input=payload,
        variables=variables,
    )
    paths = [
        path
        for levels, task in turn.task.watches
        if levels or ended
        for path in template_scope.task_paths(turn.up(levels), task)
    ]
    if paths:
        seen.learn(statements.fetch("results", {"execution": journey.execution_id, "reads": paths}))
    blank: dict[str, Any] = {"output": None, "outcome": "", "error": None, "history": []}
    tasks = {task.id: blank for task in turn.graph.tasks} | seen.outer | seen.results
    scope = {
        "input": payload,
        "vars": variables,
        "tasks": tasks,
        "execution": seen.described(1),
        **template_scope.turn(seen),
    }
    names = {reference[0] for reference in template.references}
    if "item" in names and (of_map := turn.nearest("map")) is not None:
        template_scope.load_items(seen, [of_map.index])
        scope |= template_scope.turn(seen)
    if "loop" in names and ended:
        # `until` is of the iteration that ended, `while` of the one that would come.
        seen.place = turn.turn(turn.index + (key == "while"))
        template_scope.load_last(seen)
        scope |= template_scope.turn(seen)
    return truth(template.render(scope))
