"""Bodies: where they belong, how deep they may stand in each other, how long paths become."""

from collections.abc import Iterator

from executions.definition.graph.problem import DefinitionProblem, problem
from executions.definition.graph.reading import BodyReading, TaskEntry

MAX_DEPTH = 8
MAX_PATH = 900  # of a step; paths are indexed, and an index entry has its bounds
INDEX_DIGITS = 7  # as many as an index of 1,000,000 has
# Settings that would do nothing at a container, and what does what they are meant for.
OF_STEPS = {
    "retry": (
        'give "retry" to the tasks of the body, since a container is never tried again as a whole'
    ),
    "timeoutSeconds": (
        "give time-outs to the tasks of the body, or the execution one in settings.timeoutSeconds"
    ),
    "circuitWaitSeconds": "give it to the tasks of the body, which have targets",
}


def body_problems(body: BodyReading) -> Iterator[DefinitionProblem]:
    """Tasks of this body whose own body is missing, empty, unexpected or too deep.

    Also containers with settings that only steps can have.
    """
    for task in body.tasks:
        chained = "modules" in task.document
        containers = [one for one in task.modules if one.spec is not None and one.spec.container]
        if chained and containers:
            message = (
                f'"{containers[0].type}" has a body, so it stands alone in its task: '
                'write "use" and "body" in place of "modules"'
            )
            yield problem((*containers[0].pointer, "use"), "container_in_chain", message)
        elif containers:
            yield from _own_body(task)
        elif "body" in task.document and all(one.spec is not None for one in task.modules):
            yield from _unexpected(task)


def _own_body(task: TaskEntry) -> Iterator[DefinitionProblem]:
    for key, instead in OF_STEPS.items():
        if key not in task.document:
            continue
        message = f'"{key}" has no meaning at "{task.id}", which runs a body: {instead}'
        yield problem((*task.pointer, key), "not_for_containers", message)
    pointer = (*task.pointer, "body")
    body = task.document.get("body")
    if "body" not in task.document:
        message = f'"{task.id}" needs a "body" with the tasks that it runs'
        yield problem(pointer, "required", message)
    elif isinstance(body, dict) and body.get("tasks") == []:
        message = f'the body of "{task.id}" has no tasks, so there is nothing to run'
        yield problem((*pointer, "tasks"), "empty_body", message)
    if task.body is not None and task.body.depth == MAX_DEPTH + 1:
        message = f"bodies stand in each other more than {MAX_DEPTH} deep; use a sub-workflow"
        yield problem(pointer, "bodies_too_deep", message)


def _unexpected(task: TaskEntry) -> Iterator[DefinitionProblem]:
    if task.modules:
        message = (
            f'only flow.loop and flow.map run a body; "{task.modules[-1].type}" of "{task.id}" '
            "does not"
        )
        yield problem((*task.pointer, "body"), "unexpected_body", message)


def path_problems(reading: BodyReading) -> Iterator[DefinitionProblem]:
    """The longest step path of all bodies, when it is too long."""
    length, task = max(_paths(reading), key=lambda path: path[0], default=(0, None))
    if task is not None and length > MAX_PATH:
        message = (
            f'the path of a step of "{task.id}" has up to {length:,} characters, with the ids of '
            f"the tasks around it; at most {MAX_PATH:,} may be: shorten the ids"
        )
        yield problem((*task.pointer, "id"), "path_too_long", message)


def _paths(reading: BodyReading) -> Iterator[tuple[int, TaskEntry]]:
    for body in reading.everywhere():
        holders = [one.holder for one in body.around() if one.holder is not None]
        prefix = sum(len(holder.id) + len("[].") + INDEX_DIGITS for holder in holders)
        for task in body.tasks:
            longest = max((len(module.id or "") for module in task.modules), default=0)
            yield prefix + len(task.id) + len(".") + longest, task
