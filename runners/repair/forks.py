"""Requests for forks: the step to fork from, and the changes.

The plugin `timetravel` provides forks; redrives of many executions need only this part. The audit
trail keeps the names of what is changed, never values.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from executions.access.actor import Actor
from executions.models import WorkflowExecution
from executions.ports import Port

PINNED, LATEST = "pinned", "latest"
MAX_NAMES = 100
MAX_NAME = 200
WHOLE = "(whole)"  # the name for an input that is not an object


@dataclass(frozen=True, slots=True)
class Overrides:
    """The changes, each merged into the present value (RFC 7396).

    `steps` changes the inputs of steps that the fork begins with, by their paths.
    """

    input: Any = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    steps: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def names(self) -> dict[str, Any]:
        """Return the names of changes: inputs by step path, variables, keys of the payload."""
        told: dict[str, Any] = {}
        if self.input is not None:
            told["input"] = names_of(self.input)
        if self.variables:
            told["variables"] = names_of(self.variables)
        if self.steps:
            told["steps"] = {
                path[:MAX_NAME]: names_of(inputs)
                for path, inputs in sorted(self.steps.items())[:MAX_NAMES]
            }
        return told


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """An execution to fork, the step before the fork (None: the beginning), and the changes.

    `version` is `pinned`, `latest` or a number; a priority of None keeps the origin's.
    """

    execution_id: UUID
    step_path: str | None
    version: str | int = PINNED
    overrides: Overrides = field(default_factory=Overrides)
    reason: str = ""
    priority: int | None = None


fork_execution: Port[[ForkRequest, Actor], WorkflowExecution] = Port(
    "runners.repair.forks.fork_execution", "timetravel"
)
"""Start a fork and return the new execution. Optional: ask `provided`.

The caller has checked the powers that it needs. Raises what `start_execution` raises, NotFound,
and other ValkyrErrors where the execution has no such step or does not take the overrides.
"""


def names_of(patch: Any) -> list[str]:
    """Return the names that a merge patch changes, sorted; at most the first hundred."""
    if not isinstance(patch, Mapping):
        return [WHOLE]
    return [name[:MAX_NAME] for name in sorted(patch)[:MAX_NAMES]]
