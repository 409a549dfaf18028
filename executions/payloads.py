"""Convert values to JSON for rows: one canonical text for storing and for hashing.

PostgreSQL's jsonb rejects NUL characters and lone surrogates, and JSON has no NaN: such values are
rejected here with a sentence, before the database would in the middle of a write.

The C encoder writes a list that occurs a thousand times a thousand times, and cannot be stopped. So
the size is summed first, without building anything, and only up to the limit.
"""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from executions.errors import PayloadError

MAX_BYTES = 5 * 1024 * 1024
# The key of an envelope, which only `executions.sealing.payloads` writes.
SEALED = "$sealed"
# The key of a reference to a value in object storage, which only `executions.payload_store` makes.
STORED = "$stored"

_encoder = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)


def dump(value: Any, what: str = "value", limit: int = MAX_BYTES) -> str:
    """Return canonical JSON of `value`: sorted keys, no spaces, UTF-8 text.

    Raises PayloadError, which names `what`, if the value is not JSON, holds NaN, infinity, NUL or a
    lone surrogate, nests too deep, or is longer than `limit` bytes.
    """
    try:
        if (left := _left(value, limit)) < 0:
            raise _too_large(what, f"at least {limit - left:,}", limit)
        text = _encoder.encode(value)
        size = len(text) if text.isascii() else len(text.encode())
    except RecursionError:
        raise PayloadError(f"The {what} is nested too deeply to be stored as JSON.") from None
    except UnicodeEncodeError as error:
        raise PayloadError(
            f"The {what} contains a lone surrogate (U+{ord(error.object[error.start]):04X}), "
            "which is not text. Decode bytes with errors='replace' first."
        ) from None
    except (TypeError, ValueError) as error:
        raise PayloadError(f"The {what} cannot be stored as JSON: {error}.") from None
    if size > limit:
        raise _too_large(what, f"{size:,}", limit)
    if "\\u0000" in text and _holds_nul(value):
        raise PayloadError(
            f"The {what} contains a NUL character (U+0000), which PostgreSQL cannot store. "
            "Remove it."
        )
    if SEALED in text and _holds_key(value, SEALED):
        raise PayloadError(
            f'The {what} holds an object with the key "{SEALED}", which is reserved for sealed '
            "payloads. Rename the key."
        )
    if STORED in text and _holds_untrusted_reference(value):
        raise PayloadError(
            f'The {what} holds an object with the key "{STORED}", which is reserved for '
            "references to stored values. Rename the key; a copied reference is not a value."
        )
    return text


class StoredReference(dict[str, Any]):
    """A reference to a value in object storage, as the engine itself made it.

    `dump` rejects other objects with its key, so that a payload cannot pretend to be a reference.
    """


def is_reference(value: Any) -> bool:
    """Return whether a value that was read from a row is a reference to a stored value."""
    return isinstance(value, dict) and isinstance(value.get(STORED), str)


def references_in(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the references in a value that was read from rows, at any depth."""
    left = [value]
    while left:
        one = left.pop()
        if is_reference(one):
            yield one
        elif isinstance(one, dict | list):
            items = one.values() if isinstance(one, dict) else one
            left += [item for item in items if isinstance(item, dict | list)]


def trusted(value: Any) -> Any:
    """Return a value that was read from rows, with its references marked: `dump` accepts these.

    Never call it with a value from a module, a user or another system.
    """
    if is_reference(value):
        return StoredReference(value)
    if isinstance(value, dict):
        return {name: trusted(item) for name, item in value.items()}
    return [trusted(item) for item in value] if isinstance(value, list) else value


def _left(value: Any, left: int) -> int:
    """Return how many of `left` bytes remain after the JSON of `value`, negative if it is longer.

    Counts the minimum size of the JSON, and stops below zero: a value that occurs many times is
    counted each time. Every payload passes through here, so the usual types are checked first.
    """
    if type(value) is dict or isinstance(value, dict):
        return _left_of_object(value, left)
    if isinstance(value, (list, tuple)):
        return _left_of_list(value, left)
    return left - _least(value)


def _left_of_object(value: dict[Any, Any], left: int) -> int:
    left -= 1 + (4 * len(value) or 1)
    for key, item in value.items():
        kind = type(item)
        if type(key) is str:
            left -= len(key)
        if kind is str:
            left -= len(item)
        elif (
            (kind is not int or item > _LONG or item < -_LONG)
            and kind not in _SHORT
            and (left := _left(item, left)) < 0
        ):
            break
    return left


def _left_of_list(value: Any, left: int) -> int:
    left -= 1 + (len(value) or 1)
    for item in value:
        kind = type(item)
        if kind is dict:
            left = _left_of_object(item, left)
            if left < 0:
                break
        elif kind is str:
            left -= len(item)
        elif (
            (kind is not int or item > _LONG or item < -_LONG)
            and kind not in _SHORT
            and (left := _left(item, left)) < 0
        ):
            break
    return left


def _least(value: Any) -> int:
    if isinstance(value, str):
        return len(value) + 2
    return value.bit_length() >> 2 if isinstance(value, int) else 1


# Not counted: they are small, and the commas between them are counted.
_SHORT = frozenset({bool, float, type(None)})
_LONG = 2**63


def _too_large(what: str, size: str, limit: int) -> PayloadError:
    return PayloadError(
        f"The {what} is {size} bytes of JSON; at most {limit:,} are allowed. Keep large data "
        "in a file or a bucket and pass its address."
    )


def digest(text: str) -> str:
    """Return the lower-case hex SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any(_holds_nul(k) or _holds_nul(v) for k, v in value.items())
    if isinstance(value, list | tuple):
        return any(_holds_nul(item) for item in value)
    return False


def _holds_key(value: Any, key: str) -> bool:
    """Return whether a reader would take the value, or one of its items, for the engine's own."""
    if isinstance(value, str):
        return False
    items = value.values() if isinstance(value, dict) else value
    found = [value, *items] if isinstance(value, (dict, list, tuple)) else []
    return any(isinstance(one, dict) and key in one for one in found)


def _holds_untrusted_reference(value: Any) -> bool:
    """Return whether an object at any depth has the key of a reference that the engine made."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, StoredReference):
            continue
        if isinstance(one, dict):
            if STORED in one:
                return True
            left += one.values()
        elif isinstance(one, list | tuple):
            left += one
    return False
