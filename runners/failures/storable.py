"""Makes text and JSON of failures fit for PostgreSQL, whatever a module put in them.

A failure that cannot be recorded would be a failure lost, so nothing here raises.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

MAX_DETAILS_CHARACTERS = 16_000
MAX_DEPTH = 20
LONGEST_TARGET = 300  # characters; of a circuit, and of what a failed step called


def storable_text(text: str, limit: int) -> str:
    """The text without NUL and lone surrogates, at most `limit` characters, `…` where cut."""
    clean = text[: limit + 1].replace("\x00", "\N{REPLACEMENT CHARACTER}")
    clean = clean.encode("utf-8", "replace").decode("utf-8")
    return clean if len(clean) <= limit else f"{clean[: limit - 1]}…"


def storable_details(details: Any) -> Any:
    """The details as JSON that can be stored; a text of their start when they are too large."""
    if details is None:
        return None
    clean = _json(details, MAX_DEPTH)
    text = json.dumps(clean, ensure_ascii=False)
    if len(text) <= MAX_DETAILS_CHARACTERS:
        return clean
    return {"truncated": storable_text(text, MAX_DETAILS_CHARACTERS)}


def _json(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return storable_text(value, MAX_DETAILS_CHARACTERS)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth > 0 and isinstance(value, Mapping):
        return {storable_text(str(k), 200): _json(v, depth - 1) for k, v in value.items()}
    if depth > 0 and isinstance(value, list | tuple | set | frozenset):
        return [_json(item, depth - 1) for item in value]
    return f"<{type(value).__name__}>"
