"""The request to start an execution, and its checks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions import payloads
from executions.definition.graph.problem import DefinitionProblem
from executions.definition.versions import Compiled, check_payload, compiled
from executions.errors import (
    InvalidPayload,
    NotFound,
    NotPublished,
    PayloadError,
    WorkflowDisabled,
)
from executions.models import Trigger, Workflow, WorkflowExecution, WorkflowVersion
from executions.states import VersionKind
from executions.triggers.stored_input import StoredInput, row_limit, row_of, value_of


@dataclass(frozen=True, slots=True)
class Branch:
    """The origin of a new execution that replays or forks another.

    `point` says where a fork begins; it is empty for a replay, which begins at the start. `prepare`
    copies a fork's earlier runs, in the transaction, before any step can run.
    """

    origin_id: UUID
    version_id: UUID
    point: str = ""
    prepare: Callable[[WorkflowExecution], None] | None = None
    labels: Mapping[str, str] | None = None  # the origin's labels, which are kept


@dataclass(frozen=True, slots=True)
class ParentRun:
    """The parent of a new execution: a live execution that has `depth` ancestors itself.

    `run_id` is the run that waits for the child, or None. A child of an error workflow belongs to
    the same failure (`failure_of`), so its own failure does not start another error workflow.
    """

    execution_id: UUID
    depth: int
    trigger_type: str
    priority: int
    failure_of: UUID | None = None
    run_id: UUID | None = None
    principal_id: Any = None


@dataclass(frozen=True, slots=True)
class StartRequest:
    """A checked request for a start; a priority below 0 means the workflow's own priority."""

    workflow: Workflow
    version: Compiled
    priority: int
    trigger_type: str
    branch: Branch | None = None
    trigger: Trigger | None = None
    parent: ParentRun | None = None
    joined: bool = False  # whether its caller began the transaction
    canary: bool = False  # whether it belongs to the canary version's share
    ids: tuple[UUID, ...] = ()  # IDs of its executions, if the choice of the version needed them
    more: bool = False  # whether other statements follow in the transaction


def chosen_priority(priority: int | None) -> int:
    """Return the requested priority; -1 for None. Raises InvalidPayload unless it is 0 to 9."""
    if priority is None:
        return -1
    if not 0 <= priority <= 9:
        raise InvalidPayload(
            "The priority is out of range.",
            [
                DefinitionProblem(
                    "priority", "range", f"{priority} is not between 0 (last) and 9 (first)."
                )
            ],
        )
    return priority


def chosen_version(
    workflow: Workflow,
    number: int | UUID | None,
    branch: Branch | None = None,
    trial: WorkflowVersion | None = None,
) -> Compiled:
    """Return the compiled version to start: the latest, the given, a branch's or a test version.

    A test of a disabled workflow runs, so that its author can check a fix. Raises WorkflowDisabled,
    NotPublished, or NotFound.
    """
    if trial is not None:
        return compiled(trial.pk)
    if workflow.archived_at is not None:
        raise WorkflowDisabled(
            f"Workflow {workflow.name!r} is archived, so it cannot start. Start another workflow."
        )
    if not workflow.enabled:
        raise WorkflowDisabled(
            f"Workflow {workflow.name!r} is disabled. Enable it, then start it again."
        )
    if branch is not None:
        return compiled(branch.version_id)
    if number is None:
        if workflow.latest_version_id is None:
            raise NotPublished(
                f"Workflow {workflow.name!r} has no published version. Publish it first."
            )
        return compiled(workflow.latest_version_id)
    if isinstance(number, UUID):
        version = compiled(number)
        if version.workflow_id != workflow.pk:
            raise NotFound(f"Workflow {workflow.name!r} has no version {number}.")
        return version
    found: UUID | None = (
        WorkflowVersion.objects.filter(workflow=workflow, number=number, kind=VersionKind.PUBLISHED)
        .values_list("pk", flat=True)
        .first()
    )
    if found is None:
        raise NotFound(f"Workflow {workflow.name!r} has no published version {number}.")
    return compiled(found)


def check(version: Compiled, payload: Any, prefix: str = "params") -> str:
    """Return the canonical JSON for the execution's row: the payload, or the reference to it.

    Raises InvalidPayload if the payload cannot be stored, and the errors of `check_schema`.
    """
    try:
        text = payloads.dump(row_of(payload), "payload", row_limit())
    except PayloadError as error:
        raise _rejected(error.message, prefix, error.code) from error
    check_schema(version, payload, prefix)
    return text


def check_schema(version: Compiled, payload: Any, prefix: str) -> None:
    """Raise InvalidPayload if a payload violates the input schema or is too large to be checked."""
    if isinstance(payload, StoredInput) and not payload.loaded and version.input_schema is not None:
        message = (
            "The payload is in the payload store and too large to be checked against the "
            "workflow's input schema. Raise VALKYR_PAYLOAD_LOAD_LIMIT, or remove the schema."
        )
        raise _rejected(message, prefix, "stored_value_too_large")
    check_payload(version, value_of(payload), prefix)


def _rejected(message: str, prefix: str, code: str) -> InvalidPayload:
    return InvalidPayload(message, [DefinitionProblem(prefix, code, message)])
