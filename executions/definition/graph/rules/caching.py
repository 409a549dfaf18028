"""Results are reused only of steps that are nothing but their result."""

from collections.abc import Iterator

from executions.definition.catalog import ModuleSpec
from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import BodyReading, ModuleEntry, TaskEntry
from executions.definition.templates import inspect_template


def cache_problems(body: BodyReading) -> Iterator[DefinitionProblem]:
    """Modules with a `cache`, of their own or their task's, whose results cannot be reused."""
    for task in body.tasks:
        yield from _task(task)


def _task(task: TaskEntry) -> Iterator[DefinitionProblem]:
    told_of_task = False
    for module in task.modules:
        own = "cache" in module.document
        owner = module if own else task
        if module.spec is None or not isinstance(owner.document.get("cache"), dict):
            continue
        reason = _reason(module.spec, module)
        if not reason:
            continue
        if not own or owner.pointer == task.pointer:
            if told_of_task:
                continue
            told_of_task = True
        message = f'the result of "{module.type}" cannot be reused: {reason}; take "cache" out'
        yield problem((*owner.pointer, "cache"), "not_cacheable", message)


def _reason(spec: ModuleSpec, module: ModuleEntry) -> str:
    if spec.container:
        return "its body's steps run anew (they may have a cache themselves)"
    if spec.waits:
        return "it waits for something that happens once"
    if spec.writes_variables:
        return "it sets variables, which a reused result would not"
    if "credential" in module.document or inspect_template(module.config or {})[0].secrets:
        return "what a secret gave access to is given to nobody who may not use it"
    return ""
