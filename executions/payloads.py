"""JSON on its way into a row: one canonical text for storing and for hashing.

PostgreSQL's jsonb refuses NUL characters and lone surrogates, and JSON has no NaN: such values
are refused here with a sentence, never by the database in the middle of a write.
"""

import hashlib
import json
from typing import Any

from executions.errors import PayloadError

MAX_BYTES = 5 * 1024 * 1024

_encoder = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)


def dump(value: Any, what: str = "value", limit: int = MAX_BYTES) -> str:
    """Canonical JSON of `value`: sorted keys, no spaces, UTF-8 text.

    Raises PayloadError, which names `what`, when it is no JSON, holds NaN, infinity, NUL or a
    lone surrogate, nests too deep, or is longer than `limit` bytes.
    """
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
        raise PayloadError(
            f"The {what} is {size:,} bytes of JSON; at most {limit:,} are allowed. Keep large data "
            "in a file or a bucket and pass its address."
        )
    if "\\u0000" in text and _holds_nul(value):
        raise PayloadError(
            f"The {what} holds a NUL character (U+0000), which PostgreSQL cannot store. Remove it."
        )
    return text


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
