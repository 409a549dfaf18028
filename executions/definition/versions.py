"""Compiled versions; each process caches the 256 versions that it used last, by ID.

Versions never change, so the cache is never stale.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from executions.definition.graph.compile import compile_graph
from executions.definition.graph.model import Graph
from executions.definition.graph.problem import DefinitionProblem
from executions.definition.json_schema.budget import BudgetExceeded, for_a_payload
from executions.definition.json_schema.checking import mistakes, validator
from executions.definition.patterns import TooMuchWork
from executions.errors import InvalidPayload, NotFound
from executions.models import Workflow, WorkflowVersion
from executions.states import VersionKind

KEPT = 256
MAX_PROBLEMS = 100
SCHEMA_BUDGET = "schema.budget"  # the code for a payload whose check would take too long


@dataclass(frozen=True, slots=True)
class Compiled:
    """A version ready to run: its graph, and the JSON Schema of its payload, if any."""

    id: UUID
    workflow_id: UUID
    workspace_id: UUID
    number: int
    graph: Graph
    input_schema: Any
    reads_input: bool  # whether any template reads the payload
    test: bool = False  # whether it was made for a test run
    origin: str = ""  # the code that the workflow comes from; empty if users edit it


@lru_cache(maxsize=KEPT)
def compiled(version_id: UUID) -> Compiled:
    """Return the compiled version with the ID. Raises NotFound."""
    row = (
        WorkflowVersion.objects.select_related("workflow")
        # Without the version's `source` and the workflow's draft, of up to 1 MiB each.
        .only("definition", "number", "kind", "workflow__workspace_id", "workflow__origin")
        .filter(pk=version_id)
        .first()
    )
    if row is None:
        raise NotFound(f"There is no workflow version {version_id}.")
    graph = compile_graph(row.definition, row.workflow_id)
    return Compiled(
        id=row.pk,
        workflow_id=row.workflow_id,
        workspace_id=row.workflow.workspace_id,
        number=row.number,
        graph=graph,
        reads_input=_reads_input(graph),
        test=row.kind == VersionKind.TEST,
        origin=row.workflow.origin,
        input_schema=row.definition.get("input") or None,
    )


def compiled_from(definition: Mapping[str, Any], version_id: UUID, workflow: Workflow) -> Compiled:
    """Return a resolved definition compiled as a test version with this ID, without caching it."""
    graph = compile_graph(definition, workflow.pk)
    return Compiled(
        id=version_id,
        workflow_id=workflow.pk,
        workspace_id=workflow.workspace_id,
        number=0,
        graph=graph,
        reads_input=_reads_input(graph),
        test=True,
        origin=workflow.origin,
        input_schema=definition.get("input") or None,
    )


def _reads_input(graph: Graph) -> bool:
    output = graph.output.references if graph.output is not None else ()
    if any(name[0] == "input" for name in output):
        return True
    if any(step.reads_input for step in graph.steps.mentioning("input")):
        return True
    inner = [task.body for task in graph.tasks]
    return any(body is not None and _reads_input(body) for body in [*inner, graph.undo])


@lru_cache(maxsize=KEPT)
def _payload_validator(version_id: UUID) -> Any:
    """Return a version's payload validator, created at first use: importing its library is slow."""
    return validator(compiled(version_id).input_schema)


def check_payload(version: Compiled, payload: Any, prefix: str = "params") -> None:
    """Raise InvalidPayload, naming the fields, if a payload breaks the version's input schema.

    The error names at most MAX_PROBLEMS fields, without values, because readers may not have access
    to payloads. A payload that takes too long to check is rejected as well (SCHEMA_BUDGET).
    """
    if version.input_schema is None:
        return
    try:
        found = mistakes(_payload_validator(version.id), payload, for_a_payload(), MAX_PROBLEMS)
    except (BudgetExceeded, TooMuchWork) as error:
        raise _unchecked(prefix, SCHEMA_BUDGET, str(error)) from error
    except RecursionError as error:
        message = "The payload or the schema's references are nested too deeply to be checked."
        raise _unchecked(prefix, "schema.depth", message) from error
    problems = [
        DefinitionProblem(
            _path(prefix, mistake.path), f"schema.{mistake.rule}", mistake.without_value
        )
        for mistake in found
    ]
    if problems:
        raise InvalidPayload("The payload does not match the workflow's input schema.", problems)


def _path(prefix: str, path: tuple[str | int, ...]) -> str:
    return prefix + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def _unchecked(prefix: str, code: str, message: str) -> InvalidPayload:
    return InvalidPayload(
        "The payload could not be checked against the workflow's input schema.",
        [DefinitionProblem(prefix, code, message)],
    )
