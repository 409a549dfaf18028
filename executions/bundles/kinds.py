"""The kinds of items in a bundle besides workflows; the app that owns a kind registers it.

A kind, such as budgets, names the fields that identify an item, reads a workspace's items, and
writes single items. The engine's own kind is `tiers`; plugins register their
kinds in `AppConfig.ready`:

    register(BudgetItems())
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet

from executions.access.actor import Actor
from executions.access.powers import Power
from executions.definition.graph.problem import DefinitionProblem, did_you_mean
from executions.models import Workspace

REQUIRED: Any = object()
Item = dict[str, Any]
Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ItemField:
    """A field of an item: its type, and its default, which applies if a file omits the field.

    `kind` is `text`, `whole`, `number`, `flag` or `texts` (a list). A field may be null if its
    default is None, or if it is `nullable`. A plan compares only the fields that are `compared`;
    the other fields are only written. `column` says that the row has a column with the field's name
    in snake_case. `most` limits a number, and the length of a text or a list (to 2,000 at most).
    """

    kind: str
    default: Any = REQUIRED
    nullable: bool = False
    compared: bool = True
    column: bool = True
    most: float = 2**31 - 1

    def expected(self, value: Any) -> str:
        """Return, in words, which values the field accepts; "" if it accepts this JSON value."""
        if value is None and (self.default is None or self.nullable):
            return ""
        if not self._has_type(value):
            return EXPECTED[self.kind]
        if self.kind in {"whole", "number"}:
            return "" if 0 <= value <= self.most else f"0 to {self.most:,}"
        most = min(int(self.most), LONGEST_TEXT)
        if self.kind == "flag" or len(value) <= most:
            return ""
        return f"at most {most:,} {UNITS[self.kind]}"

    def _has_type(self, value: Any) -> bool:
        if isinstance(value, bool):
            return self.kind == "flag"
        if self.kind == "texts":
            return isinstance(value, list) and all(isinstance(one, str) for one in value)
        types: dict[str, Any] = {"text": str, "whole": int, "number": int | float}
        return self.kind in types and isinstance(value, types[self.kind])


LONGEST_TEXT = 2_000
UNITS = {"text": "characters", "texts": "texts"}
EXPECTED = {
    "text": "a text",
    "whole": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "texts": "a list of texts",
}


@dataclass(frozen=True, slots=True)
class BundleContext:
    """The workspace into which items are written, and the acting user.

    `workflows` maps slugs to the IDs of the workspace's workflows. While a plan is made, the ID of
    a workflow that the bundle will create is None.
    """

    workspace: Workspace
    actor: Actor
    workflows: Mapping[str, UUID | None]


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item as it is stored: its row's ID, and all fields."""

    id: UUID
    item: Item


class BundleKind(ABC):
    """A kind of item: its fields, and the functions that read and write items of this kind.

    `name` is the kind's name in a bundle, and its file's name without `.yaml`. `needs` is the power
    in the workspace that is required to read and write items; None if the items belong to the whole
    installation, so that only superusers may do this. `keys` are the fields that identify an item.
    A bundle has at most `most` items of the kind.
    """

    name: ClassVar[str]
    needs: ClassVar[Power | None]
    keys: ClassVar[tuple[str, ...]]
    fields: ClassVar[Mapping[str, ItemField]]
    most: ClassVar[int] = 500

    @abstractmethod
    def rows(self, workspace: Workspace) -> QuerySet[Any]:
        """Return all rows of the workspace (or the installation), in a fixed order."""

    def item(self, row: Any) -> Item:
        """Return a row's item with all fields; a subclass sets the fields without a column."""
        columns = self._columns()
        return {
            name: getattr(row, columns[name]) if name in columns else None for name in self.fields
        }

    @abstractmethod
    def create(self, context: BundleContext, item: Item) -> None:
        """Create an item. Raises a ValkyrError."""

    @abstractmethod
    def change(self, context: BundleContext, row: StoredItem, item: Item) -> None:
        """Set the row to the item's values. Raises a ValkyrError."""

    @abstractmethod
    def remove(self, context: BundleContext, row: StoredItem) -> None:
        """Delete the row. Raises a ValkyrError."""

    def stored(self, workspace: Workspace, *, lock: bool) -> list[StoredItem]:
        """Return the stored items, locked if requested: at most one more than a bundle may have."""
        rows = self.rows(workspace)
        if lock:
            rows = rows.select_for_update(no_key=True, of=("self",))
        return [StoredItem(row.pk, self.item(row)) for row in rows[: self.most + 1]]

    def facts(self, item: Item) -> dict[str, Any]:
        """Return the item's values, with the names of the row's columns as keys."""
        return {column: item[name] for name, column in self._columns().items()}

    def _columns(self) -> dict[str, str]:
        return {
            name: re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name)
            for name, field in self.fields.items()
            if field.column
        }

    def prepare(self) -> None:
        """Do work that a rollback must not undo, such as creating keys; by default, do nothing."""
        return

    def unseen(self, context: BundleContext, row: StoredItem, item: Item) -> list[str]:
        """Return sentences about differences that the fields do not show; by default, none."""
        return []

    def key(self, item: Item) -> Key:
        """Return the values that identify an item."""
        return tuple(item[name] for name in self.keys)

    def identity(self, item: Item) -> str:
        """Return the text that identifies an item in the record of applied bundles."""
        return f"{self.name}/{json.dumps(self.key(item), ensure_ascii=False)}"

    def called(self, item: Item) -> str:
        """Return the item's name for display: the values that identify it."""
        return ", ".join(str(value) for value in self.key(item) if value not in (None, ""))

    def full(self, item: Item) -> Item:
        """Return a checked item with the defaults of omitted fields."""
        return {name: item.get(name, field.default) for name, field in self.fields.items()}

    def short(self, item: Item) -> Item:
        """Return an item as a file shows it: without the values that are defaults."""
        return {
            name: item[name]
            for name, field in self.fields.items()
            if field.default is REQUIRED or item[name] != field.default
        }

    def compared(self, item: Item) -> Item:
        """Return the fields that a plan compares."""
        return {name: item[name] for name, field in self.fields.items() if field.compared}

    def mistakes(self, item: Any, path: str) -> list[DefinitionProblem]:
        """Return the problems of an item's form: unknown, missing and invalid fields."""
        if not isinstance(item, dict):
            return [DefinitionProblem(path, "type", "Expected an object.")]
        found = [
            DefinitionProblem(
                f"{path}.{name}",
                "unknown_field",
                f"Unknown field{did_you_mean(str(name), self.fields)}. "
                f"Known fields: {', '.join(self.fields)}.",
            )
            for name in item
            if name not in self.fields
        ]
        for name, field in self.fields.items():
            if name not in item:
                if field.default is REQUIRED:
                    what = f"The field {name} is required."
                    found.append(DefinitionProblem(path, "required", what))
            elif expected := field.expected(item[name]):
                what = f"Expected {expected}."
                found.append(DefinitionProblem(f"{path}.{name}", "type", what))
        return found


_KINDS: dict[str, BundleKind] = {}


def register(kind: BundleKind) -> None:
    """Add a kind; it replaces an earlier kind with the same name."""
    _KINDS[kind.name] = kind


def kinds() -> Mapping[str, BundleKind]:
    """Return the kinds of the installed apps, keyed and sorted by name."""
    return dict(sorted(_KINDS.items()))
