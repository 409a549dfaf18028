"""Read a key of a value, and represent a missing value."""

from collections.abc import Callable
from typing import Any

from jinja2 import StrictUndefined
from jinja2.utils import missing

from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.comparing import SCALARS
from executions.definition.templating.errors import TooLarge
from executions.definition.templating.paths import kind, lacks
from executions.definition.templating.values import scan

MAX_ATTRIBUTE = 200
READ_WORK = 8  # units for reading one key of one item
MISSING_WORK = 40  # units for replacing a missing key
SHORT_TEXT = 64


class StrictName(StrictUndefined):
    """An undefined value whose error names the missing key and the existing keys."""

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return self._undefined_hint
        if self._undefined_obj is missing:
            return f'"{self._undefined_name}" is not available here'
        return f"the value {lacks(self._undefined_obj, self._undefined_name or '')}"


def item_of(value: Any, key: Any) -> Any:
    """Return `value[key]`, never a method; a StrictName if the key is missing or not a scalar."""
    if type(key) not in SCALARS:
        return StrictName(obj=value, name=f"({kind(key)})")
    try:
        return value[key]
    except (TypeError, LookupError):
        return StrictName(obj=value, name=key)


Reader = Callable[[Any], Any]


def attribute_reader(
    budget: RenderBudget, attribute: Any, *, default: Any = None, caseless: bool = False
) -> Reader:
    """Return a function that reads an item's `attribute`: a dotted path, or None for the item.

    With `caseless`, strings become lower case, for sorting and grouping. A missing value becomes
    `default`, unless `default` is None. Each call is charged to the budget.
    """
    parts = attribute_parts(attribute)
    units = READ_WORK * (len(parts) + 1)

    def read(item: Any) -> Any:
        budget.spend(units)
        for part in parts:
            item = item_of(item, part)
            if isinstance(item, StrictName):
                budget.spend(MISSING_WORK)
                item = item if default is None else default
        return _lower(budget, item) if caseless and isinstance(item, str) else item

    return read


def attribute_parts(attribute: Any) -> list[str | int]:
    """Return the keys of an attribute's dotted path; [] for None.

    Raises TypeError for types other than str and int, and TooLarge if the path is too long.
    """
    if attribute is None:
        return []
    if type(attribute) is int:
        return [attribute]
    if not isinstance(attribute, str):
        raise TypeError("an attribute must be text or a whole number")
    if len(attribute) > MAX_ATTRIBUTE:
        raise TooLarge(f"an attribute's path may have at most {MAX_ATTRIBUTE} characters")
    return [int(part) if part.isdecimal() else part for part in attribute.split(".")]


def _lower(budget: RenderBudget, text: str) -> str:
    if len(text) > SHORT_TEXT:
        budget.spend(scan(text) if text.isascii() else len(text))
        budget.hold(len(text) if text.isascii() else 4 * len(text))
    return text.lower()
