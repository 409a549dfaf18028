"""Compare two JSON values: find the paths of added, removed and changed values.

This module is pure, and its work is bounded.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from executions.admin.values import masked

MAX_CHANGES = 100
MAX_LOOKED_AT = 50_000  # values of both sides together
MAX_SHOWN = 600  # characters of each side
ROOT = "(all of it)"

Key = str | int


class DifferenceKind(StrEnum):
    """The kind of a difference between two values."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class ValueDifference:
    """A value that differs: `before` is None if it was added, `after` is None if it was removed."""

    path: str
    kind: DifferenceKind
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences, in the order of the values; `whole` is False if some may be missing."""

    changes: tuple[ValueDifference, ...]
    whole: bool

    @property
    def same(self) -> bool:
        """Return whether the values were compared completely and are equal."""
        return self.whole and not self.changes


class _Spent(Exception):
    """The maximum number of values has been compared."""


class _Walk:
    def __init__(self, budget: int) -> None:
        self.left = budget

    def changes(self, before: Any, after: Any, path: tuple[Key, ...]) -> Iterator[ValueDifference]:
        self._look()
        if isinstance(before, dict) and isinstance(after, dict):
            for key in (*before, *(key for key in after if key not in before)):
                yield from self._member(before, after, key, path)
        elif isinstance(before, list) and isinstance(after, list):
            for index in range(max(len(before), len(after))):
                yield from self._item(before, after, index, path)
        elif not _equal(before, after):
            yield ValueDifference(
                written(path), DifferenceKind.CHANGED, _shown(before, path), _shown(after, path)
            )

    def _member(
        self, before: dict[str, Any], after: dict[str, Any], key: str, path: tuple[Key, ...]
    ) -> Iterator[ValueDifference]:
        inner = (*path, key)
        if key not in after:
            yield ValueDifference(
                written(inner), DifferenceKind.REMOVED, _shown(before[key], inner), None
            )
        elif key not in before:
            yield ValueDifference(
                written(inner), DifferenceKind.ADDED, None, _shown(after[key], inner)
            )
        else:
            yield from self.changes(before[key], after[key], inner)

    def _item(
        self, before: list[Any], after: list[Any], index: int, path: tuple[Key, ...]
    ) -> Iterator[ValueDifference]:
        inner = (*path, index)
        if index >= len(after):
            yield ValueDifference(
                written(inner), DifferenceKind.REMOVED, _shown(before[index], inner), None
            )
        elif index >= len(before):
            yield ValueDifference(
                written(inner), DifferenceKind.ADDED, None, _shown(after[index], inner)
            )
        else:
            yield from self.changes(before[index], after[index], inner)

    def _look(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise _Spent


def compare(before: Any, after: Any) -> Comparison:
    """Return at most `MAX_CHANGES` differences; compare lists by position, and objects by key."""
    found: list[ValueDifference] = []
    try:
        for change in _Walk(MAX_LOOKED_AT).changes(before, after, ()):
            if len(found) == MAX_CHANGES:
                return Comparison(tuple(found), whole=False)
            found.append(change)
    except (_Spent, RecursionError):
        return Comparison(tuple(found), whole=False)
    return Comparison(tuple(found), whole=True)


def written(path: Sequence[Key]) -> str:
    """Return a path for display, such as `lines[2].sku`; quote unusual keys: `headers["x-id"]`."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        elif key.isidentifier():
            text += f".{key}" if text else key
        else:
            text += f"[{json.dumps(key, ensure_ascii=False)}]"
    return text or ROOT


def _equal(before: Any, after: Any) -> bool:
    """Return whether two values are equal as JSON: true differs from 1, and 1 equals 1.0."""
    return before == after and isinstance(before, bool) == isinstance(after, bool)


def _shown(value: Any, path: Sequence[Key]) -> str:
    """Return a value as truncated JSON, or dots if a key in its path usually denotes a secret."""
    names = [key for key in path if isinstance(key, str)]
    if any(masked({name: "x"})[name] != "x" for name in names):
        return str(masked({"password": "x"})["password"])
    text = json.dumps(masked(value), ensure_ascii=False, default=str)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
