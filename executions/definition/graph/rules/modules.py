"""Rules for tasks and modules: unique IDs, known types, configuration, queues and credentials."""

from collections.abc import Iterator, Mapping
from typing import Any

from executions.definition.catalog import Catalog, ConfigProblem, ModuleSpec
from executions.definition.graph.model import Limits
from executions.definition.graph.problem import DefinitionProblem, did_you_mean, problem
from executions.definition.graph.reading import BodyReading, ModuleEntry, TaskEntry
from executions.definition.templates import inspect_template
from executions.definition.templating.errors import Pointer

# Queues of the engine itself. A step there would delay the recovery of all other work.
RESERVED_QUEUES = frozenset({"control"})


def module_problems(
    reading: BodyReading, catalog: Catalog, variables: Mapping[str, Any]
) -> Iterator[DefinitionProblem]:
    """Yield problems of tasks and modules; mark invalid modules, whose outcomes are unknown."""
    for task in reading.duplicates:
        message = f'a task with the ID "{task.id}" already exists; IDs must be unique'
        yield problem((*task.pointer, "id"), "duplicate_id", message)
    for task in reading.tasks:
        yield from _task_problems(task)
        for place, module in enumerate(task.modules):
            yield from _module_problems(module, catalog, variables)
            if place + 1 < len(task.modules):
                yield from _gate_in_the_middle(module)
        if task.undo is not None:
            yield from _run_settings(task.undo.document, task.undo.pointer)
            yield from _module_problems(task.undo, catalog, variables)


def _task_problems(task: TaskEntry) -> Iterator[DefinitionProblem]:
    document = task.document
    yield from _run_settings(document, task.pointer)
    if "use" not in document and "modules" not in document:
        message = "a task needs a module: `use`, or a chain in `modules`"
        yield problem((*task.pointer, "use"), "required", message)
    if "modules" not in document:
        return
    for key in ("use", "with", "credential"):
        if key in document:
            message = f'"{key}" cannot be combined with "modules": put it into one of the modules'
            yield problem((*task.pointer, key), "conflict", message)
    seen: set[str] = set()
    for module in task.modules:
        yield from _run_settings(module.document, module.pointer)
        if module.id in seen:
            message = f'the task "{task.id}" already has a module with the id "{module.id}"'
            yield problem((*module.pointer, "id"), "duplicate_id", message)
        seen.add(module.id or "")


def _run_settings(document: Mapping[str, Any], pointer: Pointer) -> Iterator[DefinitionProblem]:
    queue = document.get("queue")
    if isinstance(queue, str) and queue in RESERVED_QUEUES:
        message = f'the queue "{queue}" is reserved for the engine; choose another'
        yield problem((*pointer, "queue"), "reserved_queue", message)
    retry = document.get("retry")
    if not isinstance(retry, dict):
        return
    match retry.get("jitter"):
        case [int() | float() as least, int() | float() as most] if least > most:
            message = f"jitter is [least, most] seconds; found [{least}, {most}]"
            yield problem((*pointer, "retry", "jitter"), "value", message)
    match retry:
        case {"baseSeconds": int() | float() as base, "maxSeconds": int() | float() as most}:
            if base > most:
                message = f"the first delay of {base} s is more than the maximum of {most} s"
                yield problem((*pointer, "retry", "maxSeconds"), "value", message)


def _module_problems(
    module: ModuleEntry, catalog: Catalog, variables: Mapping[str, Any]
) -> Iterator[DefinitionProblem]:
    if module.spec is None:
        yield _unknown_module(module, catalog)
    elif module.config is not None:
        found = _checked(module, module.config)
        found += _undeclared(module, module.config, variables)
        module.sound = not found
        for mistake in found:
            pointer = (*module.pointer, "with", *mistake.pointer)
            yield problem(pointer, mistake.code, mistake.message)


def _unknown_module(module: ModuleEntry, catalog: Catalog) -> DefinitionProblem:
    pointer = (*module.pointer, "use")
    hint = did_you_mean(module.type, catalog)
    return problem(pointer, "unknown_module", f'there is no module "{module.type}"{hint}')


def _checked(module: ModuleEntry, config: Mapping[str, Any]) -> list[ConfigProblem]:
    """Return the problems that the module's own check finds, or one problem if it raises."""
    assert module.spec is not None
    try:
        return list(module.spec.check(config))
    except Exception as error:
        message = (
            f'the module "{module.type}" could not check its inputs '
            f"({type(error).__name__}: {error}); this is a mistake in the module"
        )
        return [ConfigProblem((), "module_check_failed", message)]


def _undeclared(
    module: ModuleEntry, config: Mapping[str, Any], variables: Mapping[str, Any]
) -> list[ConfigProblem]:
    """Return problems for variables that the module sets but the workflow does not declare."""
    values = config.get("values")
    if module.spec is None or not module.spec.writes_variables or not isinstance(values, dict):
        return []
    return [
        ConfigProblem(
            ("values", name),
            "unknown_variable",
            f'the workflow declares no variable "{name}"{did_you_mean(name, variables)}; '
            'add it under "variables"',
        )
        for name in values
        if name not in variables
    ]


def _gate_in_the_middle(module: ModuleEntry) -> Iterator[DefinitionProblem]:
    if module.outcomes():
        message = f'"{module.type}" chooses a branch, so it can only be the last module of a task'
        yield problem((*module.pointer, "use"), "gate_not_last", message)


# Only results of steps without side effects can be reused.


def cache_problems(body: BodyReading) -> Iterator[DefinitionProblem]:
    """Yield a problem for each `cache`, of a module or of its task, that cannot be used."""
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
        message = f'the result of "{module.type}" cannot be reused: {reason}; remove "cache"'
        yield problem((*owner.pointer, "cache"), "not_cacheable", message)


def _reason(spec: ModuleSpec, module: ModuleEntry) -> str:
    if spec.container:
        return "its body's steps run again (they may have a cache themselves)"
    if spec.waits:
        return "it waits for a single occurrence"
    if spec.writes_variables:
        return "it sets variables, which a reused result would not do"
    if spec.effect == "database":
        return "it writes rows, which a reused result would not do"
    if "credential" in module.document or inspect_template(module.config or {})[0].secrets:
        return "data obtained with a secret must not reach steps that may not use the secret"
    return ""


# Some modules cannot run on queues of remote runners, or on queues that are served by threads.
#
# A module's queue is the definition's or, without one, the default of its type.


def queue_problems(reading: BodyReading, limits: Limits) -> Iterator[DefinitionProblem]:
    """Yield a problem for each module that cannot run on its queue."""
    for task in reading.tasks:
        for module, inherited in task.steps:
            own: Any = module.document.get("queue", inherited.get("queue"))
            if module.spec is None:
                continue
            if own is None:
                yield from _problems_of_own_queue(module, module.spec, limits)
            if not isinstance(own, str):
                continue
            stands = module.pointer if "queue" in module.document else task.pointer
            if own in limits.remote_queues and (reason := _ours(module.spec)):
                message = (
                    f'remote runners serve the queue "{own}", but "{module.type}" '
                    f"{reason}: omit its queue"
                )
                yield problem((*stands, "queue"), "not_remote", message)
            if reason := _unserved(own, module.spec, limits):
                yield problem((*stands, "queue"), "not_remote", reason)
            # In such a process, hundreds of steps wait for other systems. A step that computes
            # would block them all.
            if _stops(own, module.spec, limits):
                message = (
                    f'the queue "{own}" is served by threads of one process, and '
                    f'"{module.type}" computes, which would block the other steps: omit its '
                    "queue"
                )
                yield problem((*stands, "queue"), "computes", message)


def _problems_of_own_queue(
    module: ModuleEntry, spec: ModuleSpec, limits: Limits
) -> Iterator[DefinitionProblem]:
    """Yield problems of a module for which the definition names no queue."""
    place = (*module.pointer, "use")
    if not spec.inline and _stops(spec.queue, spec, limits):
        message = (
            f'"{module.type}" computes, but its queue "{spec.queue}" is served by threads of one '
            "process, so it would block the other steps: use a queue that is not in "
            "VALKYR_THREAD_QUEUES"
        )
        yield problem(place, "computes", message)
    if reason := _unserved(spec.queue, spec, limits):
        yield problem(place, "not_remote", reason)


def _unserved(queue: str, spec: ModuleSpec, limits: Limits) -> str:
    """Return why no remote runner can get a remote module's steps from the queue; otherwise, ""."""
    if not spec.remote or queue in limits.remote_queues:
        return ""
    return (
        f'only remote runners execute "{spec.type}", but VALKYR_REMOTE_QUEUES lacks its queue '
        f'"{queue}": set `queue` to one of VALKYR_REMOTE_QUEUES, or add the queue to that setting'
    )


def _stops(queue: str, spec: ModuleSpec, limits: Limits) -> bool:
    return spec.computes and queue in limits.thread_queues


def _ours(spec: ModuleSpec) -> str:
    if spec.container:
        return "has a body that the engine runs"
    if spec.waits:
        return "waits, which only the engine can do"
    if spec.effect == "database":
        return "writes in the transaction that records it"
    return "is executed by the engine itself" if spec.inline else ""


# Only modules that take a credential may name one.


def credential_problems(body: BodyReading) -> Iterator[DefinitionProblem]:
    """Yield a problem for each of this body's modules that names a credential but can use none."""
    for task in body.tasks:
        for module, _ in task.steps:
            yield from _not_taken(module)


def _not_taken(module: ModuleEntry) -> Iterator[DefinitionProblem]:
    spec = module.spec
    if spec is None or spec.credential or module.document.get("credential") is None:
        return
    also = " (its `with` may contain secrets)" if spec.takes_secrets else ""
    message = f'"{module.type}" takes no credential{also}; remove "credential"'
    yield problem((*module.pointer, "credential"), "no_credential", message)
