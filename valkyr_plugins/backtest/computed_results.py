"""The results of the steps computed so far, in place of the rows that a worker reads."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured

from executions.public.graphs import Place, Step
from executions.public.payload_store import StoredValueBroken
from executions.public.sealing import SealingError
from runners.public import replaying
from runners.public.replaying import TemplateData
from valkyr_plugins.backtest.records import MAX_BYTES
from valkyr_plugins.backtest.verdicts import VerdictReason


class NotComparable(Exception):
    """No part of the execution can be compared."""

    def __init__(self, reason: VerdictReason) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(slots=True)
class ComputedResults:
    """The results of the steps: taken from the record, computed again, or unknown.

    `unknown` maps each path with an unknown result to the step that makes it unknown. `variables`
    contains all states of the workflow's variables, the newest last.
    """

    variables: list[dict[str, Any]]
    rows: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    # Items of maps, by the maps' step paths.
    lists: dict[str, list[Any]] = field(default_factory=dict)
    # Handled errors: message and class.
    errors: dict[str, tuple[str, str]] = field(default_factory=dict)
    dead: list[str] = field(default_factory=list)  # paths of failures that no `error` edge handles
    unknown: dict[str, str] = field(default_factory=dict)
    unknown_variables: str = ""  # the step that made the variables unknown
    loaded: dict[str, Any] = field(default_factory=dict)  # stored values, by reference
    loaded_bytes: int = 0

    # Methods of `ResultSource`, with which templates read results.

    def results(self, execution_id: Any, paths: list[str]) -> list[tuple[Any, ...]]:
        """Return the results at `paths`, without the steps that have no result."""
        return [self.rows[path] for path in paths if path in self.rows]

    def items(self, data: TemplateData, place: Place, indexes: list[int]) -> dict[int, Any]:
        """Return the existing items at `indexes` of the map around `place`, keyed by index."""
        known = self.lists.get(place.holder, [])
        return {index: known[index] for index in indexes if index < len(known)}

    def load(self, workspace_id: UUID, value: Any) -> Any:
        """Return the stored value of a reference; load each value only once.

        Raises PayloadStoreUnavailable, or NotComparable if the value is missing or unreadable, or
        if all values together are too large.
        """
        name = json.dumps(value, sort_keys=True)
        if name not in self.loaded:
            self.loaded_bytes += replaying.stored_bytes(value)
            if self.loaded_bytes > MAX_BYTES:
                raise NotComparable(VerdictReason.TOO_LARGE)
            try:
                self.loaded[name] = replaying.load_stored(workspace_id, value)
            except StoredValueBroken as error:
                raise NotComparable(VerdictReason.RESULT_MISSING) from error
            except (SealingError, ImproperlyConfigured) as error:
                raise NotComparable(VerdictReason.SEALED) from error
        return self.loaded[name]

    # Known results of steps.

    def succeed(self, path: str, outcome: str, outputs: Any) -> None:
        """Record the outcome and the output of a step that succeeded."""
        self.rows[path] = (path, "SUCCESS", outcome, outputs, "", "")

    def skip(self, path: str) -> None:
        """Record that a step was skipped."""
        self.rows[path] = (path, "SKIPPED", "", None, "", "")

    def fail(self, path: str, message: str, kind: str) -> None:
        """Record a failure that an error edge or an enclosing container handles."""
        self.rows[path] = (path, "FAILED", "error", None, message, kind)
        self.errors[path] = message, kind

    def output(self, path: str) -> Any:
        """Return the output of a step that succeeded; otherwise None."""
        row = self.rows.get(path)
        return row[3] if row is not None and row[1] == "SUCCESS" else None

    def write(self, values: Mapping[str, Any]) -> None:
        """Change variables; ignore those that the workflow does not declare."""
        known = {name: value for name, value in values.items() if name in self.variables[0]}
        self.variables.append(self.variables[-1] | known)

    # Unknown results.

    def lose(self, path: str, step: Step, source: str) -> None:
        """Record that a step's result, and the variables that it sets, are unknown."""
        self.unknown[path] = source
        if step.writes_variables:
            self.unknown_variables = self.unknown_variables or source

    def missing(self, place: Place, step: Step) -> str | None:
        """Return the unknown step on which a step depends, directly or indirectly, or None."""
        found = self.first_unknown(replaying.reads_of(place, step))
        if found is not None:
            return found
        if step.reads_vars and self.unknown_variables:
            return self.unknown_variables
        turns: list[Place] = []
        if step.histories:
            turns += [place.turn(index) for index in range(place.index)]
        loop = place.nearest("loop")
        if step.reads_last and loop is not None and loop.index:
            turns.append(loop.turn(loop.index - 1))
        return self.first_unknown(path for turn in turns for path in replaying.last_paths(turn))

    def first_unknown(self, paths: Iterable[str]) -> str | None:
        """Return the step that makes the first unknown result at `paths` unknown, or None."""
        if not self.unknown:
            return None
        return next((self.unknown[path] for path in paths if path in self.unknown), None)

    def unknown_below(self, first: Place) -> str | None:
        """Return the step that makes a result in a container's body unknown, or None."""
        return self.first_unknown(path for path in self.unknown if path.startswith(first.stem))

    def is_dead_below(self, first: Place) -> bool:
        """Return whether a dead letter in a container's body keeps the container open."""
        return any(path.startswith(first.stem) for path in self.dead)
