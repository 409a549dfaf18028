"""Keyset pagination: a cursor names the last row of a page, and the next page starts after it.

So the thousandth page costs as much as the first, and new rows do not shift the pages.
"""

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db.models import Field, IntegerField, Model, Q, QuerySet

M = TypeVar("M", bound=Model)
LARGEST_INTEGER = 2**63 - 1


class InvalidCursor(ValueError):
    """The text is not a cursor of a list in this order."""

    def __init__(self) -> None:
        """Build the message shown to clients."""
        super().__init__("Invalid cursor: take it from the Link header of a list in this order.")


@dataclass(frozen=True, slots=True)
class KeysetOrder:
    """The order of a list: a column and the ID, or the ID alone.

    A cursor is the base64url of a JSON array: the first column's name and the row's value in each
    column. Clients treat it as opaque.
    """

    columns: tuple[str, ...]
    ascending: bool = False

    @property
    def ordering(self) -> list[str]:
        """Return the arguments of `order_by` for this order."""
        return [name if self.ascending else f"-{name}" for name in self.columns]

    @property
    def reversed(self) -> "KeysetOrder":
        """Return the order of the same columns in the opposite direction."""
        return KeysetOrder(self.columns, not self.ascending)

    def cursor(self, row: Any) -> str:
        """Return the cursor that names `row`."""
        return self.cursor_of(*(getattr(row, name) for name in self.columns))

    def cursor_of(self, *found: Any) -> str:
        """Return the cursor of a row with these values in the columns."""
        values = [_to_json(value) for value in found]
        text = json.dumps([self.columns[0], *values])
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    def rows(self, rows: QuerySet[M], cursor: str | None) -> QuerySet[M]:
        """Return the rows after the cursor (all rows if None), in order. Raises InvalidCursor."""
        if cursor:
            rows = rows.filter(self._after(self.values(rows, cursor)))
        return rows.order_by(*self.ordering)

    def _after(self, values: list[Any]) -> Q:
        side = "gt" if self.ascending else "lt"
        first, last = self.columns[0], self.columns[-1]
        if first == last:
            return Q(**{f"{first}__{side}": values[0]})
        # The first condition is implied by the second; it lets the index start at the cursor.
        return Q(**{f"{first}__{side}e": values[0]}) & (
            Q(**{f"{first}__{side}": values[0]}) | Q(**{f"{last}__{side}": values[1]})
        )

    def values(self, rows: QuerySet[M], cursor: str) -> list[Any]:
        """Return the values that a cursor contains, in the columns' types. Raises InvalidCursor."""
        try:
            padded = cursor + "=" * (-len(cursor) % 4)
            found = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
            name, *values = found
            if name != self.columns[0]:
                raise InvalidCursor
            pairs = zip(self.columns, values, strict=True)
            return [_from_json(_field(rows, column), value) for column, value in pairs]
        except (ValueError, TypeError, binascii.Error, RecursionError, ValidationError) as error:
            raise InvalidCursor from error


def _to_json(value: Any) -> str | int:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if isinstance(value, int) else str(value)


def _from_json(field: "Field[Any, Any]", value: Any) -> Any:
    """Return a JSON value in the column's type. Raises ValueError or ValidationError."""
    if type(value) is not (int if isinstance(field, IntegerField) else str):
        raise ValueError(value)
    found = field.to_python(value)
    if isinstance(found, datetime) and found.tzinfo is None:
        raise ValueError(value)
    if isinstance(found, int) and abs(found) > LARGEST_INTEGER:
        raise ValueError(value)
    return found


def _field(rows: QuerySet[M], column: str) -> "Field[Any, Any]":
    """Return the model's field of a column, or the output field of an annotation."""
    try:
        return rows.model._meta.get_field(column)  # type: ignore[return-value]
    except FieldDoesNotExist:
        return rows.query.annotations[column].output_field
