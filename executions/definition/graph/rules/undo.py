"""Rules for undo steps: which tasks can have an undo step, and which modules can be used."""

from collections.abc import Iterator

from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import BodyReading, ModuleEntry, TaskEntry


def undo_problems(body: BodyReading) -> Iterator[DefinitionProblem]:
    """Yield a problem for each undo step of a container, and for each module that cannot undo."""
    for task in body.tasks:
        if task.container and "undo" in task.document:
            yield _of_a_container(task)
        elif task.undo is not None and (reason := _reason(task.undo)):
            message = f'"{task.undo.type}" cannot undo "{task.id}": {reason}'
            yield problem((*task.undo.pointer, "use"), "not_for_undo", message)


def _of_a_container(task: TaskEntry) -> DefinitionProblem:
    message = (
        f'"undo" is not allowed for "{task.id}", which runs a body: set it on the tasks '
        "of the body, which are undone for every successful iteration or item"
    )
    return problem((*task.pointer, "undo"), "not_for_containers", message)


def _reason(module: ModuleEntry) -> str:
    spec = module.spec
    if spec is None:
        return ""
    if spec.container:
        return "it runs a body, but an undo is one step"
    if spec.waits:
        return "it waits, but an undo step must not wait; put the wait into the workflow"
    if spec.outcomes or module.outcomes():
        return "it chooses a branch, but only other undo steps follow an undo step"
    return ""
