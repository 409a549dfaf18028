"""printf-like formats (`"%s of %d" % (name, 7)`), their result computed before it is made."""

import re
from collections.abc import Mapping
from typing import Any

from executions.templating.meter import charge
from executions.templating.sizes import charge_whole, text_length
from executions.templating.values import MAX_TEXT, TooLarge

MAX_WIDTH = 999
_FIELD = re.compile(
    r"%(?:\((?P<name>[^()]*)\))?[-#0 +]*(?P<width>\*|\d*)"
    r"(?:\.(?P<precision>\*|\d*))?[hlL]?(?P<kind>[diouxXeEfFgGcrsa%]?)"
)
# The longest a float gets: 309 digits before the point, and as many as asked for behind it.
_FLOAT = 330


def formatted(text: str, values: Any) -> str:
    """Return `text % values`; raises TooLarge before a result of more than MAX_TEXT is made."""
    charge_whole(text)
    length = len(text)
    position = 0
    for field in _FIELD.finditer(text):
        charge(1)
        if field["kind"] == "":
            raise ValueError(f"{field.group()[:40]!r} is no field of a format")
        if field["kind"] == "%":
            continue
        width = max(_number(field["width"]), _number(field["precision"]))
        length += width + _length(_value(values, field["name"], position), field["kind"])
        position += field["name"] is None
        if length > MAX_TEXT:
            raise TooLarge(
                f"the text could have {length:,} characters; at most {MAX_TEXT:,} may be"
            )
    return str(text % values)


def _number(text: str | None) -> int:
    if text == "*" or len(text or "") > len(str(MAX_WIDTH)):
        raise TooLarge(f"a field of the format is too wide; at most {MAX_WIDTH} characters may be")
    return int(text) if text else 0


def _value(values: Any, name: str | None, position: int) -> Any:
    """What the field shows; None where there is no such value, which `%` itself tells."""
    if name is not None:
        return values.get(name) if isinstance(values, Mapping) else None
    if isinstance(values, tuple):
        return values[position] if position < len(values) else None
    return values


def _length(value: Any, kind: str) -> int:
    if kind == "s" and isinstance(value, str):
        return len(value)
    if kind in "rsa":
        return text_length(value)
    return _FLOAT + (value.bit_length() if isinstance(value, int) else 0)
