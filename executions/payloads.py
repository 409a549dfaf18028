"""JSON on its way into a row: one canonical text for storing and for hashing.

PostgreSQL's jsonb refuses NUL characters and lone surrogates, and JSON has no NaN: such values
are refused here with a sentence, never by the database in the middle of a write.
"""

import hashlib
import json
from typing import Any

from executions.errors import PayloadError

MAX_BYTES = 5 * 1024 * 1024
# How many times larger than allowed a value may be that is encoded to tell its size.
SEVERAL = 4

_encoder = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)


def dump(value: Any, what: str = "value", limit: int = MAX_BYTES) -> str:
    """Canonical JSON of `value`: sorted keys, no spaces, UTF-8 text.

    Raises PayloadError, which names `what`, when it is no JSON, holds NaN, infinity, NUL or a
    lone surrogate, nests too deep, or is longer than `limit` bytes. A value that is several times
    larger is not encoded at all: a list may hold one long text a million times.
    """
    if _is_longer(value, SEVERAL * limit):
        raise PayloadError(_too_large(what, f"more than {SEVERAL * limit:,}", limit))
    try:
        text = _encoder.encode(value)
        size = len(text) if text.isascii() else len(text.encode())
    except RecursionError:
        raise PayloadError(f"The {what} nests too deep to be stored as JSON.") from None
    except UnicodeEncodeError as error:
        raise PayloadError(
            f"The {what} holds a lone surrogate (U+{ord(error.object[error.start]):04X}), which is "
            "no text. Decode bytes with errors='replace' first."
        ) from None
    except (TypeError, ValueError) as error:
        raise PayloadError(f"The {what} cannot be stored as JSON: {error}.") from None
    if size > limit:
        raise PayloadError(_too_large(what, f"{size:,}", limit))
    if "\\u0000" in text and _holds_nul(value):
        raise PayloadError(
            f"The {what} holds a NUL character (U+0000), which PostgreSQL cannot store. Remove it."
        )
    return text


def _is_longer(value: Any, limit: int) -> bool:
    """Whether the JSON of a value has more than `limit` characters, by a lower bound of them."""
    pending = [value]
    while pending:
        one = pending.pop()
        kind = type(one)
        if kind is str:
            limit -= len(one)
        elif kind is dict:
            limit -= len(one)
            pending.extend(one)
            pending.extend(one.values())
        elif kind is list or kind is tuple:
            limit -= len(one)
            pending.extend(one)
        if limit < 0:
            return True
    return False


def _too_large(what: str, size: str, limit: int) -> str:
    return (
        f"The {what} is {size} bytes of JSON; at most {limit:,} are allowed. Keep large data in a "
        "file or a bucket and pass its address."
    )


def digest(text: str) -> str:
    """Lower-case hex SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any(_holds_nul(k) or _holds_nul(v) for k, v in value.items())
    if isinstance(value, list | tuple):
        return any(_holds_nul(item) for item in value)
    return False
