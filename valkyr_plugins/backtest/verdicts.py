"""The verdict on each step of a backtested execution, with the reason. This module is pure."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import TextChoices

from executions.public.errors import PayloadError
from executions.public.language import lazy
from executions.public.values import payloads

MAX_CHANGES = 20  # maximum changed fields of one step
MAX_SHOWN = 500  # maximum characters of a value's JSON


class BacktestVerdict(TextChoices):
    """The result of comparing a step, or a whole execution, with its record."""

    SAME = "SAME", lazy("same")
    DIFFERENT_OUTPUT = "DIFFERENT_OUTPUT", lazy("different output")
    DIFFERENT_PATH = "DIFFERENT_PATH", lazy("different path")
    WOULD_CALL = "WOULD_CALL", lazy("would call")
    NOT_COMPARABLE = "NOT_COMPARABLE", lazy("cannot be compared")


# An execution has the first of these verdicts that any of its steps has.
WORST_FIRST = (
    BacktestVerdict.WOULD_CALL,
    BacktestVerdict.DIFFERENT_PATH,
    BacktestVerdict.DIFFERENT_OUTPUT,
    BacktestVerdict.NOT_COMPARABLE,
    BacktestVerdict.SAME,
)
DIFFERENT = frozenset(
    {BacktestVerdict.WOULD_CALL, BacktestVerdict.DIFFERENT_PATH, BacktestVerdict.DIFFERENT_OUTPUT}
)


class VerdictReason(StrEnum):
    """The reason for a verdict."""

    INPUTS = "INPUTS"  # the module would be called with other inputs
    CREDENTIAL = "CREDENTIAL"  # the module would be called with another credential
    NEW = "NEW"  # the step has no recorded run
    GONE = "GONE"  # the step ran, but would not run now
    OUTCOME = "OUTCOME"  # the outcome differs
    FAILS = "FAILS"  # the step succeeded, but would fail now
    OUTPUT = "OUTPUT"  # the output differs
    DEPENDS = "DEPENDS"  # the step depends on an unknown result
    RESULT_MISSING = "RESULT_MISSING"  # the step had not ended
    SEALED = "SEALED"  # a payload is sealed, and its key is unavailable
    # Equal inputs, but another output: the module's code has changed.
    MODULE_CHANGED = "MODULE_CHANGED"
    NONDETERMINISTIC = "NONDETERMINISTIC"  # the inputs depend on the order of parallel steps
    TOO_LARGE = "TOO_LARGE"  # the execution has too many steps or too much data
    UNAVAILABLE = "UNAVAILABLE"  # the module is not installed here


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field that differs: its recorded value, and its value as computed now."""

    field: str
    recorded: Any
    now: Any


@dataclass(frozen=True, slots=True)
class StepVerdict:
    """The verdict on one step, or, without a path, on the execution's output and end.

    `detail` is the new outcome or message (for DEPENDS, the step whose result is unknown);
    `recorded` is the recorded outcome.
    """

    path: str
    verdict: BacktestVerdict
    why: VerdictReason | None = None
    module: str = ""
    recorded: str = ""
    detail: str = ""
    changes: tuple[FieldChange, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the verdict as it is stored and sent."""
        return {
            "stepPath": self.path,
            "verdict": str(self.verdict),
            "reason": None if self.why is None else str(self.why),
            "module": self.module,
            "recorded": self.recorded,
            "detail": self.detail,
            "changes": [
                {"field": one.field, "recorded": one.recorded, "now": one.now}
                for one in self.changes
            ],
        }


def worst(verdicts: Iterator[BacktestVerdict]) -> BacktestVerdict:
    """Return the worst of the verdicts on an execution's steps and end; SAME if there are none."""
    found = set(verdicts)
    return next((one for one in WORST_FIRST if one in found), BacktestVerdict.SAME)


def changes(recorded: Any, now: Any, name: str = "") -> tuple[FieldChange, ...]:
    """Return the first 20 fields in which two values differ."""
    found: list[FieldChange] = []
    for path, one, other in unequal(recorded, now, name):
        if len(found) == MAX_CHANGES:
            break
        found.append(FieldChange(path, shown(one), shown(other)))
    return tuple(found)


def is_equal(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal: `1` equals `1.0`, but does not equal `true`.

    A reference to a stored value is compared by its digest.
    """
    return next(unequal(one, other), None) is None


def unequal(one: Any, other: Any, name: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield each path at which two JSON values differ, with the two values or their previews."""
    if payloads.is_reference(one) or payloads.is_reference(other):
        if not _is_stored_equal(one, other):
            yield name, _preview(one), _preview(other)
    elif isinstance(one, Mapping) and isinstance(other, Mapping):
        yield from _unequal_keys(one, other, name)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from unequal(first, second, f"{name}[{index}]")
    elif isinstance(one, bool) or isinstance(other, bool):
        if one is not other:
            yield name, one, other
    elif one != other:
        yield name, one, other


def _unequal_keys(
    one: Mapping[str, Any], other: Mapping[str, Any], name: str
) -> Iterator[tuple[str, Any, Any]]:
    for key in sorted({*one, *other}):
        path = f"{name}.{key}" if name else str(key)
        if key not in one or key not in other:
            yield path, one.get(key), other.get(key)
        else:
            yield from unequal(one[key], other[key], path)


def _is_stored_equal(one: Any, other: Any) -> bool:
    reference, value = (one, other) if payloads.is_reference(one) else (other, one)
    if payloads.is_reference(value):
        return bool(value["digest"] == reference["digest"])
    try:
        text = payloads.dump(value, "value", limit=reference["bytes"])
    except PayloadError:
        return False  # the value is longer, so it differs
    return bool(payloads.digest(text) == reference["digest"])


def _preview(value: Any) -> Any:
    return value["preview"] if payloads.is_reference(value) else value


def shown(value: Any) -> Any:
    """Return a value for display, or a string if the value is too long or is not JSON."""
    try:
        text = payloads.dump(value, "value")
    except PayloadError:
        return f"(cannot be shown: {type(value).__name__})"
    if len(text) <= MAX_SHOWN:
        return json.loads(text)
    return f"({len(text):,} characters) {text[:MAX_SHOWN]}…"
