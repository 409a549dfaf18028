"""Shorten a tool's result until it fits: an agent's context is small. This module is pure."""

import json
from typing import Any

MOST_CHARACTERS = 40_000
# Maximum characters of a text, and maximum items of a list or object, tried in this order.
STEPS = ((6_000, 500), (2_000, 500), (600, 500), (300, 100), (150, 25))
MOST_DEPTH = 40


def as_text(value: Any, most: int = MOST_CHARACTERS) -> str:
    """Return the value as JSON of at most `most` characters; notes mark the cut parts."""
    for characters, items in STEPS:
        text = _json(_cut(value, characters, items, MOST_DEPTH))
        if len(text) <= most:
            return text
    return _json(
        {
            "truncated": text[: most // 4],
            "note": "The result is too large. Ask for fewer rows, or for one object.",
        }
    )[:most]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _cut(value: Any, characters: int, items: int, depth: int) -> Any:
    if isinstance(value, str):
        return _cut_text(value, characters)
    if not isinstance(value, dict | list):
        return value
    if depth == 0:
        return "… (nested too deeply)"
    if isinstance(value, list):
        shown = [_cut(item, characters, items, depth - 1) for item in value[:items]]
        return shown if len(value) <= items else [*shown, f"… ({len(value) - items} more items)"]
    kept = list(value.items())[:items]
    found = {str(key): _cut(item, characters, items, depth - 1) for key, item in kept}
    return found if len(value) <= items else found | {"…": f"{len(value) - items} more keys"}


def _cut_text(text: str, characters: int) -> str:
    if len(text) <= characters:
        return text
    return f"{text[:characters]}… ({len(text) - characters:,} more characters)"
