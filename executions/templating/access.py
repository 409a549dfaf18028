"""Reading a key of a value, and what stands for a value that is not there."""

from typing import Any

from jinja2 import StrictUndefined
from jinja2.utils import missing

from executions.templating.comparing import SCALARS
from executions.templating.errors import TooLarge
from executions.templating.paths import kind, lacks

MAX_ATTRIBUTE = 200


class StrictName(StrictUndefined):
    """An undefined value whose error says what was looked for and what there is."""

    @property
    def _undefined_message(self) -> str:
        if self._undefined_hint:
            return self._undefined_hint
        if self._undefined_obj is missing:
            return f'"{self._undefined_name}" is not available here'
        return f"the value {lacks(self._undefined_obj, self._undefined_name or '')}"


def item_of(value: Any, key: Any) -> Any:
    """`value[key]`, never a method; only texts and numbers are keys."""
    if type(key) not in SCALARS:
        return StrictName(obj=value, name=f"({kind(key)})")
    try:
        return value[key]
    except (TypeError, LookupError):
        return StrictName(obj=value, name=key)


def attribute_reader(attribute: Any, *, default: Any = None, caseless: bool = False) -> Any:
    """A function from an item to its `attribute`, a dotted path, or to itself where that is None.

    With `caseless` texts come in lower case, as keys to sort and group by.
    """
    if attribute is None:
        return caseless_key if caseless else _itself
    if isinstance(attribute, str):
        if len(attribute) > MAX_ATTRIBUTE:
            raise TooLarge(f"an attribute's path may have at most {MAX_ATTRIBUTE} characters")
        parts = [int(part) if part.isdecimal() else part for part in attribute.split(".")]
    elif type(attribute) is int:
        parts = [attribute]
    else:
        raise TypeError("an attribute must be text or a whole number")

    def read(item: Any) -> Any:
        for part in parts:
            item = item_of(item, part)
            if default is not None and isinstance(item, StrictName):
                item = default
        return caseless_key(item) if caseless else item

    return read


def caseless_key(value: Any) -> Any:
    """A text in lower case, anything else as it is."""
    return value.lower() if isinstance(value, str) else value


def _itself(value: Any) -> Any:
    return value
