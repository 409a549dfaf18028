"""Find the values in a failed step's inputs that may have caused the error.

This module is pure, and its work is bounded.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dlq.comparing.difference import Comparison, DifferenceKind, Key, written

MAX_LOOKED_AT = 5_000  # values
MAX_MARKED = 50
# Maximum number of differences that can indicate the cause.
FEW_DIFFERENCES = 10
QUOTED_FROM = 2  # minimum characters of a text that the error quotes
PLAIN_FROM = 6  # minimum characters of a text without quotes
DIGITS_FROM = 4  # minimum digits; a shorter number may be a status, a line or a count

Path = tuple[Key, ...]


class SuspectReason(StrEnum):
    """The reasons to suspect a value, the strongest first."""

    NAMED = "named"
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Suspect:
    """A value of the inputs, and the reason for the suspicion."""

    path: Path
    reason: SuspectReason

    @property
    def where(self) -> str:
        """Return the path of the value, for display."""
        return written(self.path)


def suspects(
    inputs: Any, error: str, details: Any = None, against: Comparison | None = None
) -> list[Suspect]:
    """Return the values that the error names and, if few, those that differ from a successful run.

    `details` are the details of the failure: a list of problems with a `field`, or an object with
    such a list. `against` compares `{"inputs": …}` of that run and of this run. If some values
    differ, others are suspects only if `details` names their fields, since the error's text may
    quote allowed values. Returns at most `MAX_MARKED` values, those named by the error first.
    """
    fields = set(_fields(details))
    differing = _differing(against)
    named, different = [], []
    for path, value in _leaves(inputs):
        differs = _differs(path, differing)
        if _is_field(path, fields) or ((differs or not differing) and _in_error(value, error)):
            named.append(Suspect(path, SuspectReason.NAMED))
        elif differs and len(differing) <= FEW_DIFFERENCES:
            different.append(Suspect(path, SuspectReason.DIFFERENT))
    return [*named, *different][:MAX_MARKED]


def _leaves(inputs: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the path and value of each leaf, in order; visit at most `MAX_LOOKED_AT` values."""
    waiting: list[tuple[Path, Any]] = [((), inputs)]
    for _ in range(MAX_LOOKED_AT):
        if not waiting:
            return
        path, value = waiting.pop()
        if isinstance(value, dict) and value:
            waiting += [((*path, key), inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list) and value:
            parts = list(enumerate(value[:MAX_LOOKED_AT]))
            waiting += [((*path, at), inner) for at, inner in reversed(parts)]
        elif path:
            yield path, value


def _fields(details: Any) -> Iterator[str]:
    if isinstance(details, Mapping):
        details = details.get("errors") or details.get("problems")
    if isinstance(details, list):
        for problem in details:
            field = problem.get("field") if isinstance(problem, Mapping) else None
            if isinstance(field, str) and field:
                yield field


def _is_field(path: Path, fields: Collection[str]) -> bool:
    """Return whether one of `fields` names this path, with or without the path's first key."""
    return bool(fields) and any(
        ".".join(map(str, path[start:])) in fields for start in range(min(2, len(path)))
    )


def _in_error(value: Any, error: str) -> bool:
    if isinstance(value, str):
        if len(value) >= QUOTED_FROM and any(f"{q}{value}{q}" in error for q in "'\"`"):
            return True
        return len(value) >= PLAIN_FROM and _as_word(value, error)
    if isinstance(value, int | float) and not isinstance(value, bool):
        text = str(value)
        return len(text) >= DIGITS_FROM and _as_word(text, error)
    return False


def _as_word(text: str, error: str) -> bool:
    return text in error and bool(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", error))


def _differing(against: Comparison | None) -> frozenset[str]:
    if against is None:
        return frozenset()
    paths = [
        change.path
        for change in against.changes
        if change.kind is not DifferenceKind.REMOVED and change.path.startswith("inputs")
    ]
    return frozenset(paths)


def _differs(path: Path, differing: Collection[str]) -> bool:
    """Return whether the value at this path, or a value that contains it, differs."""
    return bool(differing) and any(
        written(("inputs", *path[:end])) in differing for end in range(len(path) + 1)
    )
