"""What a fork is asked to change, and what the audit trail keeps of it: names, never values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PINNED, LATEST = "pinned", "latest"
MAX_NAMES = 100
MAX_NAME = 200
WHOLE = "(whole)"  # of an input that is no object


@dataclass(frozen=True, slots=True)
class Overrides:
    """What is to be different, each merged into what is there (RFC 7396).

    `steps` changes the inputs of steps that the fork begins with, by their paths.
    """

    input: Any = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    steps: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def names(self) -> dict[str, Any]:
        """What is changed: inputs by step path, variables, keys of the payload; no values."""
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


def names_of(patch: Any) -> list[str]:
    """The names that a merge patch changes, sorted; of many the first hundred."""
    if not isinstance(patch, Mapping):
        return [WHOLE]
    return [name[:MAX_NAME] for name in sorted(patch)[:MAX_NAMES]]
