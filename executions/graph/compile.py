"""A resolved definition becomes a Graph: ids become indexes and UUIDs, templates are compiled."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid5

from executions.graph.canonical import sha256_hex
from executions.graph.definition import CALLBACK_URL, ERROR
from executions.graph.model import (
    CachePolicy,
    CheckpointPolicy,
    Concurrency,
    Edge,
    Graph,
    Step,
    Task,
)
from executions.graph.policies import policy
from executions.graph.topology import topological_order
from executions.templates import Template, compile_template

LAST = frozenset({("loop",), ("loop", "previous")})
CONTINUE = "continue"


def compile_graph(resolved: Mapping[str, Any], workflow_id: UUID) -> Graph:
    """The Graph of what publishing stored (see `resolve`); raises ValueError for a cycle."""
    settings = resolved["settings"]
    whole = _Whole(
        workflow_id, MappingProxyType(resolved["variables"]), settings["priority"], resolved["name"]
    )
    output = compile_template(resolved["output"]) if "output" in resolved else None
    return _graph(
        resolved,
        whole,
        _Place(),
        output=output,
        timeout_seconds=settings["timeoutSeconds"],
        concurrency=_concurrency(settings.get("concurrency")),
        on_failure=(settings.get("onFailure") or {}).get("workflow"),
        checkpoint=_checkpoint(settings.get("checkpoint")),
    )


@dataclass(frozen=True, slots=True)
class _Whole:
    """What every body shares with the workflow it belongs to."""

    workflow_id: UUID
    variables: Mapping[str, Any]
    priority: int
    name: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a body stands: its path, the ids of the tasks around it, innermost first."""

    prefix: str = ""
    around: tuple[Mapping[str, int], ...] = ()
    kind: str = ""
    guarded: bool = False


def _graph(body: Mapping[str, Any], whole: _Whole, place: _Place, **settings: Any) -> Graph:
    documents = body["tasks"]
    task_by_id = {task["id"]: index for index, task in enumerate(documents)}
    incoming: list[list[Edge]] = [[] for _ in documents]
    outgoing: list[list[Edge]] = [[] for _ in documents]
    for edge in _edges(body["edges"], task_by_id):
        incoming[edge.target].append(edge)
        outgoing[edge.source].append(edge)
    tasks: list[Task] = []
    steps: list[Step] = []
    for index, document in enumerate(documents):
        path = f"{place.prefix}{document['id']}"
        task_uuid = uuid5(whole.workflow_id, path)
        ids = (task_by_id, *place.around)
        chain = list(_chain(document, index, task_uuid, len(steps), ids, place.kind))
        steps += chain
        handles_error = any(edge.on == ERROR for edge in outgoing[index])
        tolerant = chain[0].container == "map" and (
            document["modules"][0]["with"].get("onItemError") == CONTINUE
        )
        inner = _body(
            document,
            whole,
            _Place(f"{path}.", ids, chain[0].container, place.guarded or handles_error or tolerant),
        )
        tasks.append(
            Task(
                index=index,
                id=document["id"],
                name=document["name"],
                uuid=task_uuid,
                steps=tuple(step.index for step in chain),
                join=document["join"],
                incoming=tuple(incoming[index]),
                outgoing=tuple(outgoing[index]),
                handles_error=handles_error,
                tolerant=tolerant,
                body=inner,
                watches=_watches(chain[0], inner, ids) if inner else frozenset(),
            )
        )
    output: Template | None = settings.get("output")
    return Graph(
        tasks=tuple(tasks),
        steps=tuple(steps),
        roots=tuple(task.index for task in tasks if not task.incoming),
        by_path=MappingProxyType({step.path: step.index for step in steps}),
        task_by_id=MappingProxyType(task_by_id),
        variables=whole.variables,
        output_reads=_reads(output, (task_by_id,))[0] if output else frozenset(),
        priority=whole.priority,
        name=whole.name,
        order=_order(tasks),
        kind=place.kind,
        guarded=place.guarded,
        pure=all(step.inline and not step.writes_variables for step in steps),
        sinks=tuple(task.index for task in tasks if not task.outgoing),
        **({"output": None, "timeout_seconds": None} | settings),
    )


def _body(document: Mapping[str, Any], whole: _Whole, place: _Place) -> Graph | None:
    body = document.get("body")
    return None if body is None else _graph(body, whole, place)


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


def _chain(
    task: Mapping[str, Any],
    task_index: int,
    task_uuid: UUID,
    first: int,
    ids: tuple[Mapping[str, int], ...],
    kind: str,
) -> Iterator[Step]:
    """The task's steps, numbered from `first`; `kind` is that of the body they stand in."""
    modules = task["modules"]
    for position, module in enumerate(modules):
        later = module.get("deferred", ())
        config = compile_template({k: v for k, v in module["with"].items() if k not in later})
        # What a container renders later it reads inside its body; any other where the step stands.
        container = module.get("container", "")
        read = config if container or not later else compile_template(module["with"])
        roots = {reference[0] for reference in read.references}
        own, outer = _reads(read, ids)
        cache = module.get("cache")
        credential = module.get("credential") or ""
        index = first + position
        yield Step(
            index=index,
            path=f"{task['id']}.{module['id']}",
            task=task_index,
            task_uuid=task_uuid,
            module_uuid=uuid5(task_uuid, module["id"]),
            module=module["use"],
            config=config,
            deferred=MappingProxyType(
                {
                    key: compile_template(module["with"][key])
                    for key in later
                    if key in module["with"]
                }
            ),
            config_hash=sha256_hex(
                [module["use"], module["with"], *([credential] if credential else [])]
            ),
            previous=index - 1 if position else None,
            following=index + 1 if position + 1 < len(modules) else None,
            queue=module["queue"],
            # A result is looked up and kept by a step of its own, never in the middle of a stretch.
            inline=module["inline"] and not cache,
            effect=module["effect"],
            writes_variables=module["writesVariables"],
            timeout_seconds=module["timeoutSeconds"],
            circuit_wait_seconds=module.get("circuitWaitSeconds"),
            retry=policy(module["retry"]),
            reads=own,
            outer_reads=outer,
            histories=_histories(read, ids[0]) if kind == "loop" else frozenset(),
            callbacks=_callbacks(read, ids),
            reads_item="item" in roots,
            reads_last=not read.references.isdisjoint(LAST),
            reads_previous="previous" in roots,
            reads_input="input" in roots,
            reads_vars="vars" in roots,
            outcomes=tuple(module["outcomes"]),
            container=container,
            cache=CachePolicy(cache["scope"], cache["ttlSeconds"]) if cache else None,
            secrets=config.secrets,
            credential=credential,
        )


def _reads(
    template: Template, ids: tuple[Mapping[str, int], ...]
) -> tuple[frozenset[int], frozenset[tuple[int, int]]]:
    """The tasks a template reads: those of its own body, and of the bodies around it.

    A name means the innermost task that has it.
    """
    own: set[int] = set()
    outer: set[tuple[int, int]] = set()
    for reference in template.references:
        if reference[0] != "tasks" or reference[2:] == (CALLBACK_URL,):
            continue
        level, task = _innermost(reference[1], ids)
        if level:
            outer.add((level, task))
        else:
            own.add(task)
    return frozenset(own), frozenset(outer)


def _innermost(name: str, ids: tuple[Mapping[str, int], ...]) -> tuple[int, int]:
    """How many bodies up the innermost task of that name stands, and its index there."""
    level = next(level for level, known in enumerate(ids) if name in known)
    return level, ids[level][name]


def _callbacks(
    template: Template, ids: tuple[Mapping[str, int], ...]
) -> frozenset[tuple[int, int]]:
    """The tasks whose address for a callback a template reads."""
    return frozenset(
        _innermost(reference[1], ids)
        for reference in template.references
        if reference[0] == "tasks" and reference[2:] == (CALLBACK_URL,)
    )


def _watches(
    step: Step, body: Graph, ids: tuple[Mapping[str, int], ...]
) -> frozenset[tuple[int, int]]:
    """What the deferred templates of a container read, seen from inside its body."""
    found: set[tuple[int, int]] = set()
    for template in step.deferred.values():
        own, outer = _reads(template, (body.task_by_id, *ids))
        found |= {(0, task) for task in own} | outer
    return frozenset(found)


def _histories(template: Template, task_by_id: Mapping[str, int]) -> frozenset[int]:
    """The tasks whose earlier outputs a template reads, or might: `tasks.a` alone names all."""
    return frozenset(
        task_by_id[reference[1]]
        for reference in template.references
        if reference[0] == "tasks"
        and reference[1] in task_by_id
        and (len(reference) < 3 or reference[2] == "history")
    )


def _concurrency(document: Mapping[str, Any] | None) -> Concurrency | None:
    if not document:
        return None
    return Concurrency(compile_template(document["key"]), document["limit"], document["onConflict"])


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
