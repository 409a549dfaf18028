"""Requests for forks: the step at which to fork, and the changes.

The plugin `timetravel` provides forks; the plugins that request forks need only this part. The
audit trail stores the names of changed values, never the values.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from executions.access.actor import Actor
from executions.definition.graph.problem import DefinitionProblem
from executions.errors import InvalidPayload
from executions.models import WorkflowExecution
from executions.ports import Port
from executions.triggers import stored_input
from executions.triggers.stored_input import StoredInput
from runners.repair import changed_inputs
from runners.segment.inputs import merged

PINNED, LATEST = "pinned", "latest"
MAX_NAMES = 100
MAX_NAME = 200
WHOLE = "(whole)"  # the name for an input that is not an object, and so has no fields


@dataclass(frozen=True, slots=True)
class Overrides:
    """The changes that a fork makes, each merged into the value that it changes (RFC 7396).

    `steps` changes the inputs of the steps with which the fork begins, keyed by step path; changes
    can be a StoredInput.
    """

    input: Any = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    steps: Mapping[str, Mapping[str, Any] | StoredInput] = field(default_factory=dict)

    def names(self) -> dict[str, Any]:
        """Return the names of the changed inputs (by step path), variables, and payload keys."""
        told: dict[str, Any] = {}
        if self.input is not None:
            told["input"] = names_of(self.input)
        if self.variables:
            told["variables"] = names_of(self.variables)
        if self.steps:
            told["steps"] = {
                path[:MAX_NAME]: names_of(stored_input.value_of(inputs))
                for path, inputs in sorted(self.steps.items())[:MAX_NAMES]
            }
        return told


def with_stored_steps(workspace_id: UUID, overrides: Overrides) -> Overrides:
    """Return the changes, with large changes of steps stored; unchanged inside a transaction.

    Raises PayloadStoreUnavailable and the errors of sealing.
    """
    steps = {
        path: changed_inputs.put(workspace_id, None, inputs)
        for path, inputs in overrides.steps.items()
    }
    return replace(overrides, steps=steps)


def merged_payload(
    workspace_id: UUID,
    recorded: Any,
    changes: Any,
    release: Callable[[], None] | None = None,
) -> Any:
    """Return a recorded payload with changes; store the result if it is large.

    A payload in the payload store is loaded, so call this function before a transaction. `release`
    frees the connection before a file is written. Raises InvalidPayload if a stored payload is not
    loaded (too large, or in a transaction), and the errors of `stored_input.from_row`.
    """
    found = stored_input.from_row(workspace_id, recorded)
    if isinstance(found, StoredInput) and not found.loaded:
        why = "It exceeds VALKYR_PAYLOAD_LOAD_LIMIT, or its change is part of a transaction."
        raise InvalidPayload(
            "The input is in the payload store and cannot be loaded to be changed. Start the "
            f"workflow with another payload. {why}",
            [DefinitionProblem("overrides.input", "stored_value_too_large", why)],
        )
    changed = merged(stored_input.value_of(found), changes)
    return stored_input.stored(workspace_id, changed, release)


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """An execution to fork, the step with which the fork begins (None: the first), and the changes.

    `version` is `pinned`, `latest` or a number; a priority of None keeps the original execution's
    priority. `payload` is the changed payload as a StoredInput, if it was stored before the
    transaction (see `triggers.stored_input`).
    """

    execution_id: UUID
    step_path: str | None
    version: str | int = PINNED
    overrides: Overrides = field(default_factory=Overrides)
    reason: str = ""
    priority: int | None = None
    payload: Any = None


fork_execution: Port[[ForkRequest, Actor], WorkflowExecution] = Port(
    "runners.repair.forks.fork_execution", "timetravel"
)
"""Start a fork and return the new execution. Optional: check `provided` first.

The caller has checked the required powers. Raises the errors of `start_execution`, NotFound, and
other ValkyrErrors if the execution has no such step or does not accept the overrides.
"""


def names_of(patch: Any) -> list[str]:
    """Return at most 100 sorted names that a patch changes; `(whole)` if it is not an object."""
    if not isinstance(patch, Mapping):
        return [WHOLE]
    return [name[:MAX_NAME] for name in sorted(patch)[:MAX_NAMES]]
