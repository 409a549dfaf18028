"""Rules for undo steps: which tasks can have one, and which modules can be one."""

from collections.abc import Iterator

from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import BodyReading, ModuleEntry, TaskEntry


def undo_problems(body: BodyReading) -> Iterator[DefinitionProblem]:
    """Yield undo steps of containers, and those whose module cannot undo anything."""
    for task in body.tasks:
        if task.container and "undo" in task.document:
            yield _of_a_container(task)
        elif task.undo is not None and (reason := _reason(task.undo)):
            message = f'"{task.undo.type}" cannot undo "{task.id}": {reason}'
            yield problem((*task.undo.pointer, "use"), "not_for_undo", message)


def _of_a_container(task: TaskEntry) -> DefinitionProblem:
    message = (
        f'"undo" has no meaning at "{task.id}", which runs a body: give it to the tasks of the '
        "body, each of which is undone for every iteration or item that succeeded"
    )
    return problem((*task.pointer, "undo"), "not_for_containers", message)


def _reason(module: ModuleEntry) -> str:
    spec = module.spec
    if spec is None:
        return ""
    if spec.container:
        return "it runs a body, and an undo is one step"
    if spec.waits:
        return "it waits, and an undo must end by itself; put the wait into the workflow"
    if spec.outcomes or module.outcomes():
        return "it decides where to go on, and nothing follows an undo but the next undo"
    return ""
