"""Rules for the structure: edges must join existing tasks without cycles; depth is limited."""

from collections.abc import Iterator, Mapping

from executions.definition.graph.document import ERROR
from executions.definition.graph.problem import DefinitionProblem, did_you_mean, problem
from executions.definition.graph.reading import BodyReading, EdgeEntry, TaskEntry, outcomes_of
from executions.definition.graph.topology import cycles, topological_order
from executions.definition.templating.errors import Pointer


def edge_problems(
    reading: BodyReading, elsewhere: Mapping[str, BodyReading]
) -> Iterator[DefinitionProblem]:
    """Yield problems for repeated edges, wrong outcomes, and tasks that are not in the body.

    `elsewhere` maps each task ID to the body that contains it.
    """
    seen: set[tuple[str, str, str]] = set()
    for edge in reading.edges:
        for index, name, pointer in (
            (edge.source, edge.from_id, edge.source_pointer),
            (edge.target, edge.to_id, edge.target_pointer),
        ):
            if index is None:
                yield _no_such_end(name, pointer, reading, elsewhere)
        if edge.source is not None:
            yield from _outcome_problems(edge, reading)
        if edge.stands and (edge.from_id, edge.to_id, edge.on) in seen:
            message = f'duplicate edge from "{edge.from_id}" to "{edge.to_id}" on "{edge.on}"'
            yield problem(edge.pointer, "duplicate_edge", message)
        seen.add((edge.from_id, edge.to_id, edge.on))


def _no_such_end(
    name: str, pointer: Pointer, reading: BodyReading, elsewhere: Mapping[str, BodyReading]
) -> DefinitionProblem:
    other = elsewhere.get(name)
    if other is None:
        task, _, outcome = name.partition(".")
        dotted = f'; did you mean "{task}:{outcome}"?' if outcome and task in reading.by_id else ""
        hint = dotted or did_you_mean(name, reading.by_id)
        return problem(pointer, "unknown_task", f'there is no task "{name}"{hint}')
    # The task of this body that contains the other one, if any.
    way = (body.holder for body in other.around() if body.outside is reading)
    holder = next(way, None)
    if holder is not None:
        hint = f'use its container "{holder.id}" instead'
    elif reading.holder is not None:
        hint = f'write the edge outside this body, and connect "{reading.holder.id}"'
    else:
        hint = "remove the edge"
    message = (
        f'"{name}" is inside {other.title}, but an edge connects tasks of the same body; {hint}'
    )
    return problem(pointer, "edge_leaves_body", message)


def _outcome_problems(edge: EdgeEntry, reading: BodyReading) -> Iterator[DefinitionProblem]:
    assert edge.source is not None
    source = reading.tasks[edge.source]
    possible = outcomes_of(source)
    if possible is None:
        return
    names = ", ".join(f'"{name}"' for name in possible)
    if not edge.stated and source.gate_outcomes():
        message = f'"{source.id}" has several outcomes; choose one with `on`: {names}'
        yield problem(_on_pointer(edge), "outcome_required", message)
    elif edge.on not in possible:
        hint = did_you_mean(edge.on, possible)
        message = f'"{source.id}" has no outcome "{edge.on}", only {names}{hint}'
        yield problem(_on_pointer(edge), "unknown_outcome", message)


def _on_pointer(edge: EdgeEntry) -> tuple[str | int, ...]:
    short = edge.source_pointer == edge.pointer
    return edge.pointer if short else (*edge.pointer, "on")


def contradictions(reading: BodyReading) -> Iterator[DefinitionProblem]:
    """Yield a problem for each `join: all` task that waits for several outcomes of one task."""
    wanted: dict[int, dict[int, set[str]]] = {}
    for edge in reading.edges:
        if edge.source is not None and edge.target is not None:
            wanted.setdefault(edge.target, {}).setdefault(edge.source, set()).add(edge.on)
    for target, by_source in wanted.items():
        task = reading.tasks[target]
        for source, outcomes in by_source.items():
            if task.document.get("join") == "all" and len(outcomes) > 1:
                both = " and ".join(f'"{name}"' for name in sorted(outcomes, key=_errors_last))
                message = (
                    f'"{task.id}" can never start: with "join: all" it waits for the outcomes '
                    f'{both} of "{reading.tasks[source].id}", which ends with only one of '
                    "them"
                )
                yield problem(task.pointer, "unreachable", message)


def _errors_last(outcome: str) -> tuple[bool, str]:
    return outcome == ERROR, outcome


# The tasks of a body must have an order: no cycles, and no task that only follows a cycle.


SHOWN_TASKS = 20


def order_problems(reading: BodyReading) -> Iterator[DefinitionProblem]:
    """Yield a problem for each set of connected cycles, and each task that only follows a cycle."""
    count, pairs = len(reading.tasks), reading.pairs
    stuck = set(range(count)) - set(topological_order(count, pairs))
    if not stuck:
        return
    for cycle in cycles(count, pairs):
        ids = [reading.tasks[index].id for index in [*cycle, cycle[0]]]
        if len(ids) > SHOWN_TASKS:
            ids[SHOWN_TASKS - 1 : -1] = ["…"]
        message = f"these tasks form a cycle: {' → '.join(ids)}; remove one of the edges"
        yield problem(reading.tasks[cycle[0]].pointer, "cycle", message)
    # A stuck task that does not lead to a cycle is not its cause: the task only follows the cycle.
    backwards = [(target, source) for source, target in pairs]
    for index in sorted(stuck & set(topological_order(count, backwards))):
        task = reading.tasks[index]
        message = f'"{task.id}" cannot be reached: every path to it contains a cycle'
        yield problem(task.pointer, "unreachable", message)


# Rules for bodies: where they are allowed, how deep they are nested, and how long paths become.


MAX_DEPTH = 8
MAX_PATH = 900  # characters of a step's path; PostgreSQL limits the size of index entries
INDEX_DIGITS = 7  # digits of an iteration's index, up to 1,000,000
# Settings without an effect on a container, and what to use instead.
OF_STEPS = {
    "retry": (
        'set "retry" on the tasks of the body, because a container is never retried as a whole'
    ),
    "timeoutSeconds": (
        "set timeouts on the tasks of the body, or for the execution in settings.timeoutSeconds"
    ),
    "circuitWaitSeconds": "set it on the tasks of the body, which have targets",
}


def body_problems(body: BodyReading) -> Iterator[DefinitionProblem]:
    """Yield problems for tasks whose own body is missing, empty, unexpected or too deep.

    Also yields problems of chained containers, of step settings on containers, and of `check_task`.
    """
    for task in body.tasks:
        chained = "modules" in task.document
        yield from _task_check(task)
        containers = [one for one in task.modules if one.spec is not None and one.spec.container]
        if chained and containers:
            message = (
                f'"{containers[0].type}" has a body, so it must be its task\'s only module: '
                'write "use" and "body" instead of "modules"'
            )
            yield problem((*containers[0].pointer, "use"), "container_in_chain", message)
        elif containers:
            yield from _own_body(task)
        elif "body" in task.document and all(one.spec is not None for one in task.modules):
            yield from _unexpected(task)


def _task_check(task: TaskEntry) -> Iterator[DefinitionProblem]:
    """Yield the problems that a container's module finds in its task, such as unusable tools."""
    spec = task.modules[0].spec if len(task.modules) == 1 else None
    if spec is not None and spec.check_task is not None:
        for found in spec.check_task(task.document):
            yield problem((*task.pointer, *found.pointer), found.code, found.message)


def _own_body(task: TaskEntry) -> Iterator[DefinitionProblem]:
    spec = task.modules[0].spec
    for key, instead in OF_STEPS.items():
        # A container that generates its body applies these settings to a step of that body.
        if key not in task.document or (spec is not None and spec.expand is not None):
            continue
        message = f'"{key}" is not allowed for "{task.id}", which runs a body: {instead}'
        yield problem((*task.pointer, key), "not_for_containers", message)
    pointer = (*task.pointer, "body")
    body = task.document.get("body")
    if "body" not in task.document:
        message = f'"{task.id}" needs a "body" with the tasks that it runs'
        yield problem(pointer, "required", message)
    elif isinstance(body, dict) and body.get("tasks") == []:
        message = f'the body of "{task.id}" has no tasks'
        yield problem((*pointer, "tasks"), "empty_body", message)
    if task.body is not None and task.body.depth == MAX_DEPTH + 1:
        message = f"bodies are nested more than {MAX_DEPTH} levels deep; use a sub-workflow"
        yield problem(pointer, "bodies_too_deep", message)


def _unexpected(task: TaskEntry) -> Iterator[DefinitionProblem]:
    if task.modules:
        message = (
            "only containers, such as flow.loop and flow.map, run a body; "
            f'"{task.modules[-1].type}" of "{task.id}" is not one'
        )
        yield problem((*task.pointer, "body"), "unexpected_body", message)


def path_problems(reading: BodyReading) -> Iterator[DefinitionProblem]:
    """Yield a problem if the longest step path of all bodies is too long."""
    length, task = max(_paths(reading), key=lambda path: path[0], default=(0, None))
    if task is not None and length > MAX_PATH:
        message = (
            f'the path of a step of "{task.id}" has up to {length:,} characters, including '
            f"the ids of its containers; at most {MAX_PATH:,} are allowed: shorten the ids"
        )
        yield problem((*task.pointer, "id"), "path_too_long", message)


def _paths(reading: BodyReading) -> Iterator[tuple[int, TaskEntry]]:
    for body in reading.everywhere():
        holders = [one.holder for one in body.around() if one.holder is not None]
        prefix = sum(len(holder.id) + len("[].") + INDEX_DIGITS for holder in holders)
        for task in body.tasks:
            longest = max((len(module.id or "") for module in task.modules), default=0)
            yield prefix + len(task.id) + len(".") + longest, task
