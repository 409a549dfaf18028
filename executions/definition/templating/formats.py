"""printf-like formats (`"%05d" % n`, `"%s of %d" | format(a, b)`), measured in advance.

One strict grammar reads every directive and rejects any other `%`, so that everything that Python
would expand is measured. Lists and objects are written as JSON.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.values import as_text, bounded_text, built_text, scan

# Possessive quantifiers, so that no text is scanned twice.
_DIRECTIVE = re.compile(
    r"%(?:\((?P<name>[^()]*+)\))?+[-+ #0]*+(?P<width>\*|\d*+)"
    r"(?:\.(?P<precision>\*|\d*+))?+[hlL]?+(?P<kind>[diouxXeEfFgGcrsa%])"
)

DIRECTIVE_WORK = 40
NUMBER_LENGTH = 340  # maximum characters of a float, without decimals
MAX_WIDTH_DIGITS = 9


def printf(budget: RenderBudget, text: str, values: Any) -> str:
    """Return `text % values`. Raises TooLarge if the result would be too long."""
    budget.spend(scan(text))
    arguments = _Arguments(budget, values)
    size = len(text)
    for directive in _directives(text):
        budget.spend(DIRECTIVE_WORK)
        size += arguments.size_of(directive)
        bounded_text(size)
    return built_text(budget, text % arguments.values())


def _directives(text: str) -> Iterator[re.Match[str]]:
    position = 0
    while (position := text.find("%", position)) != -1:
        directive = _DIRECTIVE.match(text, position)
        if directive is None:
            raise ValueError(f"the format has an unknown directive at character {position + 1}")
        yield directive
        position = directive.end()


class _Arguments:
    """The values for a format's directives, in order or by name."""

    def __init__(self, budget: RenderBudget, values: Any) -> None:
        self._budget = budget
        self._named = values if isinstance(values, Mapping) else None
        self._listed = list(values) if isinstance(values, tuple) else [values]
        self._tuple = isinstance(values, tuple)
        self._next = 0
        self._texts: dict[str, str] = {}
        budget.spend(1 + len(self._listed))

    def values(self) -> Any:
        """Return the values as Python's `%` expects them, with lists and objects as text."""
        if self._named is not None:
            return {**self._named, **self._texts} if self._texts else self._named
        return tuple(self._listed) if self._tuple else self._listed[0]

    def size_of(self, directive: re.Match[str]) -> int:
        """Return the maximum number of characters that a directive writes."""
        width = self._number(directive["width"])
        precision = self._number(directive["precision"])
        kind = directive["kind"]
        if kind == "%":
            return width
        name = directive["name"]
        value = self._listed_value() if name is None else self._named_value(name)
        if isinstance(value, str) and kind == "s" and directive["precision"] is not None:
            return max(width, min(len(value), precision))
        return max(width, self._length(value, kind, precision))

    def _length(self, value: Any, kind: str, precision: int) -> int:
        if isinstance(value, str):
            return len(value) if kind == "s" else 10 * len(value) + 2
        if kind == "c":
            return 1
        digits = value.bit_length() // 3 if isinstance(value, int) else 0
        self._budget.spend(digits * digits >> 12)  # writing takes time quadratic in the digits
        return NUMBER_LENGTH + digits + precision

    def _number(self, written: str | None) -> int:
        if written == "*":
            value = self._listed_value()
            return abs(value) if isinstance(value, int) else 0
        if written and len(written) > MAX_WIDTH_DIGITS:
            bounded_text(10**MAX_WIDTH_DIGITS)
        return int(written) if written else 0

    def _listed_value(self) -> Any:
        at = self._next
        self._next += 1
        if at >= len(self._listed):
            return None  # Python reports it, with its own message
        value = self._listed[at] = self._plain(self._listed[at])
        return value

    def _named_value(self, name: str) -> Any:
        if self._named is None or name not in self._named:
            return None
        if name not in self._texts:
            plain = self._plain(self._named[name])
            if plain is not self._named[name]:
                self._texts[name] = plain
            return plain
        return self._texts[name]

    def _plain(self, value: Any) -> Any:
        if value is None or isinstance(value, (str, int, float)):
            return value
        return as_text(self._budget, value)
