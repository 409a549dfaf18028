"""Methods, functions and times of JavaScript and n8n that have an equivalent in templates."""

import re
from collections.abc import Callable

from valkyr_plugins.n8n.expressions.parsing import Untranslatable

TEXT, NUMBER, OTHER = "text", "number", "other"
Written = tuple[str, str]  # a template expression, and the kind of its value

# For each name: the minimum and maximum number of arguments, the function that writes the
# expression, and the kind of its value.
Method = tuple[int, int, Callable[..., str], str]


def _cut(text: str, start: str, end: str = "") -> str:
    return f"{text}[{start}:{end}]"


def _joined(items: str, separator: str = '","') -> str:
    return f"({items} | join({separator}))"


METHODS: dict[str, Method] = {
    "toUpperCase": (0, 0, lambda text: f"{text}.upper()", TEXT),
    "toLowerCase": (0, 0, lambda text: f"{text}.lower()", TEXT),
    "trim": (0, 0, lambda text: f"{text}.strip()", TEXT),
    "trimStart": (0, 0, lambda text: f"{text}.lstrip()", TEXT),
    "trimEnd": (0, 0, lambda text: f"{text}.rstrip()", TEXT),
    "startsWith": (1, 1, lambda text, start: f"{text}.startswith({start})", OTHER),
    "endsWith": (1, 1, lambda text, end: f"{text}.endswith({end})", OTHER),
    "includes": (1, 1, lambda whole, part: f"({part} in {whole})", OTHER),
    "split": (1, 1, lambda text, at: f"{text}.split({at})", OTHER),
    "replace": (2, 2, lambda text, old, new: f"{text}.replace({old}, {new}, 1)", TEXT),
    "replaceAll": (2, 2, lambda text, old, new: f"{text}.replace({old}, {new})", TEXT),
    "substring": (1, 2, _cut, TEXT),
    "slice": (1, 2, _cut, OTHER),
    "join": (0, 1, _joined, TEXT),
    "toString": (0, 0, lambda value: f"({value} | string)", TEXT),
    "toJsonString": (0, 0, lambda value: f"({value} | tojson)", TEXT),
    "isEmpty": (0, 0, lambda value: f"(not {value})", OTHER),
    "isNotEmpty": (0, 0, lambda value: f"(not not {value})", OTHER),
    "toNumber": (0, 0, lambda value: f"({value} | float)", NUMBER),
    "toInt": (0, 0, lambda value: f"({value} | int)", NUMBER),
    "toFloat": (0, 0, lambda value: f"({value} | float)", NUMBER),
    "first": (0, 0, lambda items: f"({items} | first)", OTHER),
    "last": (0, 0, lambda items: f"({items} | last)", OTHER),
    "sum": (0, 0, lambda items: f"({items} | sum)", NUMBER),
    "unique": (0, 0, lambda items: f"({items} | unique | list)", OTHER),
    "keys": (0, 0, lambda value: f"({value} | list)", OTHER),
}
FUNCTIONS: dict[str, Method] = {
    "JSON.stringify": (1, 3, lambda value, *_: f"({value} | tojson)", TEXT),
    "Math.round": (1, 1, lambda value: f"({value} | round | int)", NUMBER),
    "Math.floor": (1, 1, lambda value: f'({value} | round(0, "floor") | int)', NUMBER),
    "Math.ceil": (1, 1, lambda value: f'({value} | round(0, "ceil") | int)', NUMBER),
    "Math.abs": (1, 1, lambda value: f"({value} | abs)", NUMBER),
    "Object.keys": (1, 1, lambda value: f"({value} | list)", OTHER),
    "String": (1, 1, lambda value: f"({value} | string)", TEXT),
    "Number": (1, 1, lambda value: f"({value} | float)", NUMBER),
    "parseInt": (1, 2, lambda value, *_: f"({value} | int)", NUMBER),
    "parseFloat": (1, 1, lambda value: f"({value} | float)", NUMBER),
    "encodeURIComponent": (1, 1, lambda value: f"({value} | urlencode)", TEXT),
    "$if": (3, 3, lambda test, yes, no: f"({yes} if {test} else {no})", OTHER),
    "$ifEmpty": (2, 2, lambda value, other: f"({value} | default({other}, true))", OTHER),
}
# In templates, a negative number counts from the end of the text, but not in JavaScript's
# substring.
POSITIVE = frozenset({"substring"})


def written(table: dict[str, Method], name: str, *arguments: str) -> Written:
    """Return a call in template syntax, and the kind of its value. Raises Untranslatable."""
    if name not in table:
        raise Untranslatable(f"it calls {name}()")
    least, most, write, kind = table[name]
    given = len(arguments) - (table is METHODS)
    if not least <= given <= most:
        raise Untranslatable(f"{name}() is called with {given} values")
    if name in POSITIVE and any(argument.startswith("-") for argument in arguments[1:]):
        raise Untranslatable(f"{name}() counts from a negative position")
    return write(*arguments), kind


# Convert times. `$now` becomes the execution's start, an ISO 8601 text, and formats become slices
# of it.


STARTED = "execution.startedAt"
REMARK = "$now became the start time of the execution, in UTC."
_SLICES = {
    "yyyy": "[0:4]", "yy": "[2:4]", "MM": "[5:7]", "dd": "[8:10]", "HH": "[11:13]",
    "mm": "[14:16]", "ss": "[17:19]",
}  # fmt: skip
_PART = re.compile(r"'([^']*)'|([A-Za-z])\2*|[^A-Za-z']+")


def formatted(pattern: str) -> str:
    """Return an expression for the execution's start, in a Luxon format. Raises Untranslatable."""
    parts: list[str] = []
    end = 0
    for match in _PART.finditer(pattern):
        piece, end = match.group(), match.end()
        if match.group(2) is None:
            literal = piece[1:-1] if piece.startswith("'") else piece
            parts.append('"' + literal.replace("\\", "\\\\").replace('"', '\\"') + '"')
        elif piece in _SLICES:
            parts.append(STARTED + _SLICES[piece])
        else:
            raise Untranslatable(f"a time's format has {piece}")
    if end != len(pattern):
        raise Untranslatable("a time's format cannot be read")
    return " ~ ".join(parts) or '""'
