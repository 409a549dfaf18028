"""Write values and calls as Python source, wrapped at 100 characters."""

import json
import keyword
import re
from collections.abc import Iterable, Mapping
from typing import Any

WIDTH = 100
INDENT = "    "


class Source(str):
    """Python source, which is written unchanged."""

    __slots__ = ()


def literal(value: Any, depth: int = 0, used: int = 0) -> str:
    """Return a JSON value as source, for a line with this indentation and `used` characters."""
    flat = _flat(value)
    if "\n" not in flat and len(INDENT) * depth + used + len(flat) <= WIDTH:
        return flat
    if isinstance(value, str):
        return flat
    if isinstance(value, Mapping):
        parts = [
            f"{text(key)}: {literal(one, depth + 1, len(key) + 5)}," for key, one in value.items()
        ]
        return _broken("{", parts, "}", depth)
    if isinstance(value, list):
        return _broken("[", [f"{literal(one, depth + 1, 1)}," for one in value], "]", depth)
    return flat


def text(value: str) -> str:
    """Return a text as source, in triple quotes if it has several lines and needs no escapes."""
    plain = '"""' not in value and "\\" not in value and not value.endswith('"')
    if "\n" in value and plain and all(one.isprintable() or one == "\n" for one in value):
        return f'"""\\\n{value}"""'
    return json.dumps(value, ensure_ascii=False)


def call(name: str, arguments: Iterable[str], depth: int, used: int = 0) -> str:
    """Return the source of a call to `name`; the arguments are already source."""
    parts = list(arguments)
    flat = f"{name}({', '.join(parts)})"
    if "\n" not in flat and len(INDENT) * depth + used + len(flat) <= WIDTH:
        return flat
    return _broken(f"{name}(", [f"{one}," for one in parts], ")", depth)


def keywords(values: Mapping[str, Any], depth: int) -> list[str]:
    """Return keyword arguments as source."""
    return [f"{key}={literal(one, depth + 1, len(key) + 2)}" for key, one in values.items()]


def identifier(wanted: str, taken: Iterable[str] = ()) -> str:
    """Return a Python identifier for `wanted` that is not in `taken`."""
    found = re.sub(r"\W", "_", wanted, flags=re.ASCII)
    if not found or found[0].isdigit() or found[0] == "_":
        found = f"t{found}"
    busy = set(taken)
    while found in busy or keyword.iskeyword(found):
        found += "_"
    return found


def may_be_named(key: str) -> bool:
    """Return whether an input can be passed by name; `with_` passes the others."""
    return (
        key != "with"
        and key.isidentifier()
        and key.isascii()
        and not key.endswith("_")
        and key[0] != "_"
    )


def _flat(value: Any) -> str:
    if isinstance(value, Source):
        return str(value)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, Mapping):
        pairs = (f"{text(key)}: {_flat(one)}" for key, one in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_flat, value))}]"
    return repr(value)


def _broken(opening: str, parts: list[str], closing: str, depth: int) -> str:
    lines = [f"{INDENT * (depth + 1)}{one}" for one in parts]
    return "\n".join([opening, *lines, f"{INDENT * depth}{closing}"])
