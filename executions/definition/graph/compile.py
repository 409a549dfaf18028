"""Compile a resolved definition into a Graph with indexes; steps are built on first access."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid5

from executions.definition.graph.document import ERROR
from executions.definition.graph.model import (
    AUTOMATIC,
    CheckpointPolicy,
    Concurrency,
    Edge,
    Graph,
    LabelTemplate,
    Step,
    Task,
)
from executions.definition.graph.places import UNDO
from executions.definition.graph.step_building import BodyContext, LazySteps, tasks_read
from executions.definition.graph.topology import topological_order
from executions.definition.templates import Template, compile_template

CONTINUE = "continue"
UNDO_KIND = "undo"


def compile_graph(resolved: Mapping[str, Any], workflow_id: UUID) -> Graph:
    """Return the Graph of a resolved definition (see `resolve`). Raises ValueError for a cycle."""
    settings = resolved["settings"]
    whole = _Whole(
        workflow_id, MappingProxyType(resolved["variables"]), settings["priority"], resolved["name"]
    )
    output = compile_template(resolved["output"]) if "output" in resolved else None
    return _graph(
        resolved,
        whole,
        _BodyContext(),
        output=output,
        timeout_seconds=settings["timeoutSeconds"],
        concurrency=_concurrency(settings.get("concurrency")),
        labels=_labels(resolved.get("labels")),
        on_failure=(settings.get("onFailure") or {}).get("workflow"),
        checkpoint=_checkpoint(settings.get("checkpoint")),
        compensation=settings.get("compensation", AUTOMATIC),
    )


@dataclass(frozen=True, slots=True)
class _Whole:
    """The data that a workflow shares with every body in it."""

    workflow_id: UUID
    variables: Mapping[str, Any]
    priority: int
    name: str


@dataclass(frozen=True, slots=True)
class _BodyContext:
    """A body's path and kind, and the surrounding tasks' indexes by ID, innermost body first."""

    prefix: str = ""
    around: tuple[Mapping[str, int], ...] = ()
    kind: str = ""
    guarded: bool = False


def _graph(body: Mapping[str, Any], whole: _Whole, place: _BodyContext, **settings: Any) -> Graph:
    documents = body["tasks"]
    task_by_id = {task["id"]: index for index, task in enumerate(documents)}
    incoming: list[list[Edge]] = [[] for _ in documents]
    outgoing: list[list[Edge]] = [[] for _ in documents]
    for edge in _edges(body["edges"], task_by_id):
        incoming[edge.target].append(edge)
        outgoing[edge.source].append(edge)
    # An undo step can read the tasks of the body that contains the undone task, but no other undo
    # step.
    ids = ({} if place.kind == UNDO_KIND else task_by_id, *place.around)
    steps = LazySteps(BodyContext(whole.workflow_id, place.prefix, place.kind, ids), documents)
    tasks: list[Task] = []
    first = 0  # index of the task's first step
    for index, document in enumerate(documents):
        head = document["modules"][0]
        container = head.get("container", "")
        handles_error = any(edge.on == ERROR for edge in outgoing[index])
        tolerant = container == "map" and head["with"].get("onItemError") == CONTINUE
        guarded = place.guarded or handles_error or tolerant
        inner = _body(
            document,
            whole,
            _BodyContext(f"{place.prefix}{document['id']}.", ids, container, guarded),
        )
        tasks.append(
            Task(
                index=index,
                id=document["id"],
                name=document["name"],
                steps=tuple(range(first, first + len(document["modules"]))),
                join=document["join"],
                incoming=tuple(incoming[index]),
                outgoing=tuple(outgoing[index]),
                handles_error=handles_error,
                tolerant=tolerant,
                body=inner,
                watches=_watches(steps[first], inner, ids) if inner else frozenset(),
            )
        )
        first += len(document["modules"])
    output: Template | None = settings.get("output")
    return Graph(
        tasks=tuple(tasks),
        steps=steps,
        roots=tuple(task.index for task in tasks if not task.incoming),
        by_path=steps.paths(),
        task_by_id=MappingProxyType(task_by_id),
        variables=whole.variables,
        output_reads=tasks_read(output, (task_by_id,))[0] if output else frozenset(),
        priority=whole.priority,
        name=whole.name,
        order=_order(tasks),
        kind=place.kind,
        guarded=place.guarded,
        pure=steps.pure,
        sinks=tuple(task.index for task in tasks if not task.outgoing),
        undo=_undo(documents, whole, place, ids),
        undone=_undone(documents, whole, place.prefix).union(
            *(task.body.undone for task in tasks if task.body is not None)
        ),
        **({"output": None, "timeout_seconds": None} | settings),
    )


def _body(document: Mapping[str, Any], whole: _Whole, place: _BodyContext) -> Graph | None:
    body = document.get("body")
    return None if body is None else _graph(body, whole, place)


def _undo(
    documents: list[Mapping[str, Any]],
    whole: _Whole,
    place: _BodyContext,
    ids: tuple[Mapping[str, int], ...],
) -> Graph | None:
    """Return a graph of a body's undo steps (same task IDs, no edges); None if there are none."""
    tasks = [
        {"id": task["id"], "name": task["name"], "join": "any", "modules": [task["undo"]]}
        for task in documents
        if "undo" in task
    ]
    if not tasks:
        return None
    inner = _BodyContext(f"{place.prefix}{UNDO}", ids, UNDO_KIND)
    return _graph({"tasks": tasks, "edges": []}, whole, inner)


def _undone(documents: list[Mapping[str, Any]], whole: _Whole, prefix: str) -> frozenset[UUID]:
    return frozenset(
        uuid5(uuid5(whole.workflow_id, f"{prefix}{task['id']}"), task["modules"][-1]["id"])
        for task in documents
        if "undo" in task
    )


def _edges(documents: list[Mapping[str, str]], task_by_id: Mapping[str, int]) -> Iterator[Edge]:
    for edge in documents:
        yield Edge(task_by_id[edge["from"]], task_by_id[edge["to"]], edge["on"])


def _order(tasks: list[Task]) -> tuple[int, ...]:
    pairs = [(edge.source, edge.target) for task in tasks for edge in task.outgoing]
    order = topological_order(len(tasks), pairs)
    if len(order) < len(tasks):
        missing = sorted({task.index for task in tasks} - set(order))
        raise ValueError(f"tasks on or after a cycle: {', '.join(tasks[i].id for i in missing)}")
    return tuple(order)


def _watches(
    step: Step, body: Graph, ids: tuple[Mapping[str, int], ...]
) -> frozenset[tuple[int, int]]:
    """Return the tasks that a container's deferred templates read, as pairs of level and index."""
    found: set[tuple[int, int]] = set()
    for template in step.deferred.values():
        own, outer = tasks_read(template, (body.task_by_id, *ids))
        found |= {(0, task) for task in own} | outer
    return frozenset(found)


def _concurrency(document: Mapping[str, Any] | None) -> Concurrency | None:
    if not document:
        return None
    return Concurrency(compile_template(document["key"]), document["limit"], document["onConflict"])


def _labels(document: Mapping[str, str] | None) -> tuple[LabelTemplate, ...]:
    return tuple(
        LabelTemplate(name, compile_template(value)) for name, value in (document or {}).items()
    )


def _checkpoint(document: Mapping[str, Any] | None) -> CheckpointPolicy | None:
    if not document:
        return None
    return CheckpointPolicy(
        enabled=document["enabled"],
        every_steps=document["everySteps"],
        on_loop=document["onLoop"],
        on_gate=document["onGate"],
        keep=document["keep"],
    )
