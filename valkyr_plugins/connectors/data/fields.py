"""How a step names a value of each row: by a key, a dotted path, or any JMESPath expression."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from runners.public.modules import StepError
from valkyr_plugins.connectors.data.bounds import MAX_ROWS
from valkyr_plugins.connectors.data.expressions import compiled

PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
FIELD_WORDS = (
    "a key (`total`), a dotted path (`customer.country`), a JMESPath expression "
    '(`items[0].sku`), or in quotes a key that is no word (`"Order total"`)'
)

Getter = Callable[[Any], Any]


@lru_cache(maxsize=512)
def getter(field: str) -> Getter:
    """What to call with a row for a field's value, null where it has none; ValueError if no field.

    Keys and paths mean what JMESPath means by them, without its engine, which takes longer.
    """
    if not PATH.fullmatch(field):
        return compiled(field)
    keys = field.split(".")
    if len(keys) == 1:
        return lambda row: row.get(field) if isinstance(row, dict) else None
    return lambda row: _below(row, keys)


def _below(row: Any, keys: list[str]) -> Any:
    for key in keys:
        row = row.get(key) if isinstance(row, dict) else None
    return row


def _checked(field: str) -> str:
    getter(field)
    return field


FieldName = Annotated[str, Field(max_length=500), AfterValidator(_checked)]


def require_rows(rows: list[Any]) -> list[Any]:
    """The rows, unless there are too many for one step."""
    if len(rows) > MAX_ROWS:
        raise StepError(
            f"there are {len(rows):,} rows; at most {MAX_ROWS:,} are taken at once: work on them "
            "in batches, and on the batches' results"
        )
    return rows
