"""Filters for strings, and helpers for string methods; each has bounded work and a bounded result.

Values that are not text are first converted to JSON, as elsewhere in a template.
"""

import html
import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

from executions.definition.templating import formats
from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.comparing import taken
from executions.definition.templating.values import (
    as_text,
    bounded_items,
    bounded_text,
    built_text,
    scan,
)

CASES = ("capitalize", "casefold", "lower", "swapcase", "title", "upper")

_WORD = re.compile(r"\w+")
_WORD_START = re.compile(r"([-\s({\[<]+)")
_UNQUOTED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~"
_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def cased(method: Callable[[str], str]) -> Callable[[RenderBudget, Any], str]:
    """Return a filter that changes case and limits the result, which may be longer than the text.

    For example, `ΐ` in upper case has three characters.
    """

    def change(budget: RenderBudget, value: Any, /) -> str:
        text = as_text(budget, value)
        budget.spend(scan(text) if text.isascii() else 1 + len(text))
        return built_text(budget, method(text))

    return change


def centered(budget: RenderBudget, value: Any, width: int = 80) -> str:
    """Apply the filter `center`: pad the text on both sides to the given width."""
    text = as_text(budget, value)
    bounded_text(max(whole(width, "center"), len(text)))
    return built_text(budget, text.center(width))


def concatenated(budget: RenderBudget, values: list[Any]) -> str:
    """Return `a ~ b ~ c` as text. Raises TooLarge as soon as the text would be too long."""
    return join(budget, values)


def escaped(budget: RenderBudget, value: Any) -> str:
    """Apply the filter `e` (`escape`), which replaces a character with at most six characters."""
    text = as_text(budget, value)
    budget.spend(4 * scan(text))
    grown = 5 * sum(text.count(character) for character in "&<>\"'")
    bounded_text(len(text) + grown // 2)
    budget.spend(grown >> 3)
    return built_text(budget, html.escape(text))


def formatted(budget: RenderBudget, value: Any, /, *args: Any, **kwargs: Any) -> str:
    """Apply the filter `format`, like printf. Raises TooLarge if the result would be too long."""
    if args and kwargs:
        raise TypeError("format takes positional or named values, not both")
    budget.spend(len(args) + len(kwargs))
    return formats.printf(budget, as_text(budget, value), kwargs or args)


def indented(
    budget: RenderBudget, value: Any, width: int | str = 4, first: bool = False, blank: bool = False
) -> str:
    """Apply the filter `indent`: indent lines by `width` spaces or by the string `width`."""
    text = as_text(budget, value)
    margin = len(width) if isinstance(width, str) else max(whole(width, "indent"), 0)
    bounded_text(margin)
    indention = width if isinstance(width, str) else " " * width
    lines = lines_of(budget, text + "\n")
    bounded_text(len(text) + len(lines) * margin)
    budget.spend(4 * len(lines))
    if blank:
        result = ("\n" + indention).join(lines)
    else:
        result = "\n".join([lines[0], *(indention + line if line else "" for line in lines[1:])])
    return built_text(budget, indention + result if first else result)


def join(budget: RenderBudget, items: Any, separator: Any = "", attribute: None = None) -> str:
    """Apply the filter `join`. Raises TooLarge as soon as the result would be too long."""
    if attribute is not None:
        raise TypeError('join takes no attribute; write map(attribute="…") | join')
    between = as_text(budget, separator)
    texts = []
    length = -len(between)
    for item in items if isinstance(items, list) else taken(budget, items):
        budget.spend(3)
        text = as_text(budget, item)
        length += len(between) + len(text)
        bounded_text(length)
        texts.append(text)
    return built_text(budget, between.join(texts))


def replace(budget: RenderBudget, text: str, old: str, new: str, count: int | None = None) -> str:
    """Apply the filter `replace`; occurrences are counted first, as `str.replace` finds them."""
    text, old, new = (as_text(budget, value) for value in (text, old, new))
    budget.spend(2 * (scan(text) + scan(old)))
    found = text.count(old)
    if count is not None and whole(count, "replace") >= 0:
        found = min(count, found)
    bounded_text(len(text) + found * max(len(new) - len(old), 0))
    budget.spend(found >> 1)
    return built_text(budget, text.replace(old, new, found))


def string(budget: RenderBudget, value: Any) -> str:
    """Apply the filter `string`: return text unchanged, and other values as JSON within limits."""
    return as_text(budget, value)


def to_json(budget: RenderBudget, value: Any) -> str:
    """Apply the filter `tojson`; a character of a string takes at most six characters of JSON."""
    if not isinstance(value, str):
        return as_text(budget, value)
    bounded_text(len(value))
    budget.spend(4 * scan(value))
    return built_text(budget, json.dumps(value, ensure_ascii=False))


def stripped(
    budget: RenderBudget, value: Any, chars: str | None, method: Callable[..., str]
) -> str:
    """Return the text without the characters `chars` at its ends, as `method` strips them."""
    text = as_text(budget, value)
    among = 0 if chars is None else len(chars)
    budget.spend(scan(text) + (len(text) * among >> 11))
    return built_text(budget, method(text, chars))


def trimmed(budget: RenderBudget, value: Any, chars: str | None = None) -> str:
    """Apply the filter `trim`. The result is never longer than the text."""
    return stripped(budget, value, chars, str.strip)


def without_tags(budget: RenderBudget, value: Any) -> str:
    """Apply the filter `striptags`, which removes comments and tags.

    It takes linear time; MarkupSafe's function takes quadratic time.
    """
    text = as_text(budget, value)
    budget.spend(4 * scan(text) + 20 * text.count("<") + 100 * text.count("&"))
    for opening, closing in (("<!--", "-->"), ("<", ">")):
        text = _without(text, opening, closing)
    return built_text(budget, html.unescape(" ".join(_words(budget, text))))


def _without(text: str, opening: str, closing: str) -> str:
    kept = []
    position = 0
    while (start := text.find(opening, position)) != -1:
        end = text.find(closing, start)
        if end == -1:
            break
        kept.append(text[position:start])
        position = end + len(closing)
    kept.append(text[position:])
    return "".join(kept)


def _words(budget: RenderBudget, text: str) -> list[str]:
    budget.spend(scan(text) + 3 * text.count(" "))
    return text.split()


def titled(budget: RenderBudget, value: Any) -> str:
    """Apply the filter `title`: capitalize each word; the words are counted first."""
    text = as_text(budget, value)
    budget.spend(4 * scan(text) + (0 if text.isascii() else len(text)))
    starts = 0
    for _ in _WORD_START.finditer(text):
        starts += 1
        budget.spend(20)
    bounded_items(starts)
    parts = _WORD_START.split(text)
    return built_text(budget, "".join(part[:1].upper() + part[1:].lower() for part in parts))


def truncated(
    budget: RenderBudget,
    value: Any,
    length: int = 255,
    killwords: bool = False,
    end: str = "...",
    leeway: int | None = None,
) -> str:
    """Apply the filter `truncate`: cut a string longer than `length` plus `leeway`; add `end`."""
    text, ending = as_text(budget, value), as_text(budget, end)
    most = whole(length, "truncate")
    more = 5 if leeway is None else whole(leeway, "truncate")
    if most < len(ending) or more < 0:
        raise ValueError(
            "truncate takes a length that is at least that of its end, and a leeway of at least 0"
        )
    if len(text) <= most + more:
        return text
    budget.spend(scan(text))
    kept = text[: most - len(ending)]
    return built_text(budget, (kept if killwords else kept.rsplit(" ", 1)[0]) + ending)


def url_encoded(budget: RenderBudget, value: Any) -> str:
    """Apply the filter `urlencode`; the length of each encoded part is checked in advance."""
    if isinstance(value, Mapping):
        pairs = taken(budget, value.items())
    elif isinstance(value, (list, tuple)) or hasattr(value, "__next__"):
        pairs = taken(budget, value)
    else:
        return _quoted(budget, value, quote, b"/")
    written = [
        "=".join(_quoted(budget, part, quote_plus, b"") for part in _pair(pair)) for pair in pairs
    ]
    return join(budget, written, "&")


def _pair(pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise TypeError("urlencode takes a text, an object, or a list of pairs")
    return pair[0], pair[1]


def _quoted(budget: RenderBudget, value: Any, quoted: Callable[[bytes], str], safe: bytes) -> str:
    encoded = as_text(budget, value).encode()
    unsafe = len(encoded.translate(None, _UNQUOTED + safe))
    bounded_text(len(encoded) + 2 * unsafe)
    budget.spend(10 + (3 * len(encoded) if unsafe else scan_bytes(encoded)))
    return built_text(budget, quoted(encoded))


def scan_bytes(encoded: bytes) -> int:
    """Return the work, in units of the budget, of reading bytes once."""
    return len(encoded) >> 3


def word_count(budget: RenderBudget, value: Any) -> int:
    """Apply the filter `wordcount`; words are counted one by one, without storing them."""
    text = as_text(budget, value)
    budget.spend(2 * scan(text))
    found = 0
    for _ in _WORD.finditer(text):
        budget.spend(6)
        found += 1
    return found


def lines_of(budget: RenderBudget, text: str, keepends: bool = False) -> list[str]:
    """Return the lines of a string; charge the budget first. Raises TooLarge for too many lines."""
    budget.spend(2 * scan(text))
    lines = 1 + sum(text.count(end) for end in _LINE_ENDS)
    bounded_items(lines)
    budget.spend(2 * lines)
    return text.splitlines(keepends)


def whole(value: Any, name: str) -> int:
    """Return the value. Raises TypeError if it is not a whole number."""
    if not isinstance(value, int):
        raise TypeError(f"{name} takes a whole number")
    return value
