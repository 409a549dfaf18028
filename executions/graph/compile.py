"""A resolved definition becomes a Graph: ids become indexes and UUIDs, templates are compiled."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any
from uuid import UUID, uuid5

from executions.graph.canonical import sha256_hex
from executions.graph.definition import ERROR
from executions.graph.model import Edge, Graph, Step, Task
from executions.graph.policies import policy
from executions.graph.topology import topological_order
from executions.templates import Template, compile_template


def compile_graph(resolved: Mapping[str, Any], workflow_id: UUID) -> Graph:
    """The Graph of what publishing stored (see `resolve`); raises ValueError for a cycle."""
    body = compile_body(resolved, workflow_id)
    output = compile_template(resolved["output"]) if "output" in resolved else None
    settings = resolved["settings"]
    return Graph(
        tasks=body.tasks,
        steps=body.steps,
        roots=tuple(task.index for task in body.tasks if not task.incoming),
        by_path=MappingProxyType({step.path: step.index for step in body.steps}),
        task_by_id=MappingProxyType(body.task_by_id),
        variables=MappingProxyType(resolved["variables"]),
        output=output,
        output_reads=_reads(output, body.task_by_id) if output else frozenset(),
        timeout_seconds=settings["timeoutSeconds"],
        priority=settings["priority"],
        name=resolved["name"],
        order=body.order,
    )


@dataclass(frozen=True, slots=True)
class Body:
    """The compiled tasks of one `{tasks, edges}`."""

    tasks: tuple[Task, ...]
    steps: tuple[Step, ...]
    task_by_id: dict[str, int]
    order: tuple[int, ...]


def compile_body(body: Mapping[str, Any], workflow_id: UUID, prefix: str = "") -> Body:
    """Compile `{tasks, edges}`; `prefix` is the path of the task that holds the body."""
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
        path = f"{prefix}{document['id']}"
        task_uuid = uuid5(workflow_id, path)
        chain = list(_chain(document, index, path, task_uuid, len(steps), task_by_id))
        steps += chain
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
                handles_error=any(edge.on == ERROR for edge in outgoing[index]),
            )
        )
    return Body(tuple(tasks), tuple(steps), task_by_id, _order(tasks))


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
    path: str,
    task_uuid: UUID,
    first: int,
    task_by_id: Mapping[str, int],
) -> Iterator[Step]:
    """The task's steps, numbered from `first`."""
    modules = task["modules"]
    for position, module in enumerate(modules):
        config = compile_template(module["with"])
        roots = {reference[0] for reference in config.references}
        index = first + position
        yield Step(
            index=index,
            path=f"{path}.{module['id']}",
            task=task_index,
            task_uuid=task_uuid,
            module_uuid=uuid5(task_uuid, module["id"]),
            module=module["use"],
            config=config,
            config_hash=sha256_hex([module["use"], module["with"]]),
            previous=index - 1 if position else None,
            following=index + 1 if position + 1 < len(modules) else None,
            queue=module["queue"],
            inline=module["inline"],
            effect=module["effect"],
            writes_variables=module["writesVariables"],
            timeout_seconds=module["timeoutSeconds"],
            retry=policy(module["retry"]),
            reads=_reads(config, task_by_id),
            reads_previous="previous" in roots,
            reads_input="input" in roots,
            reads_vars="vars" in roots,
            outcomes=tuple(module["outcomes"]),
        )


def _reads(template: Template, task_by_id: Mapping[str, int]) -> frozenset[int]:
    return frozenset(
        task_by_id[reference[1]] for reference in template.references if reference[0] == "tasks"
    )
