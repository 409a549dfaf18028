"""Edges join tasks that exist, once each, on outcomes their source can have."""

from collections.abc import Iterator, Mapping

from executions.definition.graph.definition import ERROR
from executions.definition.graph.problem import DefinitionProblem, did_you_mean, problem
from executions.definition.graph.reading import BodyReading, EdgeEntry, outcomes_of
from executions.definition.templating.errors import Pointer


def edge_problems(
    reading: BodyReading, elsewhere: Mapping[str, BodyReading]
) -> Iterator[DefinitionProblem]:
    """Edges to nowhere, given twice, without a gate's outcome, or on one that cannot come.

    `elsewhere` says in which body a task of each id stands.
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
            message = f'the edge from "{edge.from_id}" to "{edge.to_id}" on "{edge.on}" is doubled'
            yield problem(edge.pointer, "duplicate_edge", message)
        seen.add((edge.from_id, edge.to_id, edge.on))


def _no_such_end(
    name: str, pointer: Pointer, reading: BodyReading, elsewhere: Mapping[str, BodyReading]
) -> DefinitionProblem:
    other = elsewhere.get(name)
    if other is None:
        hint = did_you_mean(name, reading.by_id)
        return problem(pointer, "unknown_task", f'there is no task "{name}"{hint}')
    # The task of this body in which the other one stands, if it does.
    way = (body.holder for body in other.around() if body.outside is reading)
    holder = next(way, None)
    if holder is not None:
        hint = f'name "{holder.id}" instead, in which it stands'
    elif reading.holder is not None:
        hint = f'write it outside this body, with "{reading.holder.id}" at its other end'
    else:
        hint = "take the edge out"
    message = f'"{name}" stands in {other.title}, and an edge joins tasks of one body; {hint}'
    return problem(pointer, "edge_leaves_body", message)


def _outcome_problems(edge: EdgeEntry, reading: BodyReading) -> Iterator[DefinitionProblem]:
    assert edge.source is not None
    source = reading.tasks[edge.source]
    possible = outcomes_of(source)
    if possible is None:
        return
    names = ", ".join(f'"{name}"' for name in possible)
    if not edge.stated and source.gate_outcomes():
        message = f'"{source.id}" decides where to go on; say which outcome with `on`: {names}'
        yield problem(_on_pointer(edge), "outcome_required", message)
    elif edge.on not in possible:
        hint = did_you_mean(edge.on, possible)
        message = f'"{source.id}" has no outcome "{edge.on}", only {names}{hint}'
        yield problem(_on_pointer(edge), "unknown_outcome", message)


def _on_pointer(edge: EdgeEntry) -> tuple[str | int, ...]:
    short = edge.source_pointer == edge.pointer
    return edge.pointer if short else (*edge.pointer, "on")


def contradictions(reading: BodyReading) -> Iterator[DefinitionProblem]:
    """Tasks that wait for two outcomes of one task, of which only one can come."""
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
                    f'{both} of "{reading.tasks[source].id}", which has one only'
                )
                yield problem(task.pointer, "unreachable", message)


def _errors_last(outcome: str) -> tuple[bool, str]:
    return outcome == ERROR, outcome
