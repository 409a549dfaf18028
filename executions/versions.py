"""Compiled versions, kept by id: after the first look, reading a graph costs no query.

Versions never change, so nothing here is ever stale.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from executions.errors import InvalidPayload, NotFound
from executions.graph.compile import compile_graph
from executions.graph.model import Graph
from executions.graph.problem import Problem
from executions.models import WorkflowVersion
from executions.states import VersionKind

KEPT = 256
MAX_PROBLEMS = 100


@dataclass(frozen=True, slots=True)
class Compiled:
    """A version ready to run: its graph and what its payload must look like."""

    id: UUID
    workflow_id: UUID
    workspace_id: UUID
    number: int
    graph: Graph
    input: Any  # a Draft202012Validator, or None
    reads_input: bool  # whether any template does
    test: bool = False  # made for a test run


@lru_cache(maxsize=KEPT)
def compiled(version_id: UUID) -> Compiled:
    """The version, compiled; raises NotFound."""
    row = WorkflowVersion.objects.select_related("workflow").filter(pk=version_id).first()
    if row is None:
        raise NotFound(f"There is no workflow version {version_id}.")
    from jsonschema import Draft202012Validator  # a second to import; few processes need it

    schema = row.definition.get("input")
    graph = compile_graph(row.definition, row.workflow_id)
    return Compiled(
        id=row.pk,
        workflow_id=row.workflow_id,
        workspace_id=row.workflow.workspace_id,
        number=row.number,
        graph=graph,
        reads_input=_reads_input(graph),
        test=row.kind == VersionKind.TEST,
        input=Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
        if schema
        else None,
    )


def _reads_input(graph: Graph) -> bool:
    output = graph.output.references if graph.output is not None else ()
    if any(step.reads_input for step in graph.steps) or any(name[0] == "input" for name in output):
        return True
    return any(task.body is not None and _reads_input(task.body) for task in graph.tasks)


def check_payload(version: Compiled, payload: Any, prefix: str = "params") -> None:
    """Raise InvalidPayload, naming every field that breaks the version's input schema."""
    if version.input is None:
        return
    problems = []
    for error in version.input.iter_errors(payload):
        path = prefix + "".join(
            f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path
        )
        problems.append(Problem(path, f"schema.{error.validator}", _sentence(error)[:300]))
        if len(problems) == MAX_PROBLEMS:
            break
    if problems:
        raise InvalidPayload("The payload breaks the workflow's input schema.", problems)


def _sentence(error: Any) -> str:
    """What is wrong, without the value: it is kept where people may read who see no payloads."""
    if error.validator == "unevaluatedItems":
        return "it has items that the schema does not know"
    return str(error.message).replace(repr(error.instance), "it")
