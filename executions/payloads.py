"""Convert values to JSON for rows: one canonical text for storing and for hashing.

PostgreSQL's jsonb rejects NUL characters and lone surrogates, and JSON has no NaN: such values are
rejected here with a message, before the database rejects them in the middle of a write.

The C encoder writes a list a thousand times if it occurs a thousand times, and cannot be stopped.
So the minimum size is counted first, without building anything, and only up to the limit.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from executions.errors import PayloadError

MAX_BYTES = 5 * 1024 * 1024
# The key of an envelope, which only `executions.sealing.payloads` writes.
SEALED = "$sealed"
# The key of a reference to a value in object storage, which only `executions.payload_store` makes.
STORED = "$stored"
# Bytes in a part of a large value's JSON, and bytes that the C encoder writes at a time.
PART, PIECE = 1024 * 1024, 256 * 1024
# Errors of the encoder for values that JSON cannot represent.
_REJECTED = (RecursionError, TypeError, ValueError)

_encoder = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
)


def dump(value: Any, what: str = "value", limit: int = MAX_BYTES) -> str:
    """Return canonical JSON of `value`: sorted keys, no spaces, non-ASCII characters unescaped.

    Raises PayloadError, which names `what`, if the value is not JSON, is longer than `limit` bytes,
    is nested too deeply, or contains NaN, infinity, NUL, a lone surrogate or a reserved key.
    """
    try:
        if (left := _left(value, limit)) < 0:
            raise _too_large(what, f"at least {limit - left:,}", limit)
        text = _encoder.encode(value)
        size = len(text) if text.isascii() else len(text.encode())
    except _REJECTED as error:
        raise _rejected(error, what) from None
    if size > limit:
        raise _too_large(what, f"{size:,}", limit)
    _check(text, value, what)
    if SEALED in text and _holds_key(value, SEALED):
        raise _reserved_for_sealing(what)
    return text


def parts(value: Any, what: str = "value", limit: int = MAX_BYTES) -> Iterator[bytes]:
    """Yield the JSON that `dump` returns, in UTF-8 and in parts of about `PART` bytes.

    Only one part is in memory. Raises PayloadError as `dump` does, possibly after some parts.
    """
    buffer, size = bytearray(), 0
    try:
        for text in _texts(value, what, 0):
            buffer += text.encode()
            if len(buffer) >= PART:
                size += len(buffer)
                if size > limit:
                    break
                yield bytes(buffer)
                buffer.clear()
    except _REJECTED as error:
        raise _rejected(error, what) from None
    if size + len(buffer) > limit:
        raise _too_large(what, f"more than {limit:,}", limit)
    yield bytes(buffer)


def pieces(item: Any) -> Iterator[bytes]:
    """Yield the JSON of an item in pieces; `dump` or `parts` must have accepted the whole value."""
    for text in _texts(item, "item", 2):
        yield text.encode()


def longer_than(value: Any, size: int) -> bool:
    """Return whether even the minimum size of a value's JSON exceeds `size` bytes."""
    return _left(value, size) < 0


def _texts(value: Any, what: str, depth: int) -> Iterator[str]:
    """Yield the JSON of a value; a large string, object or list is yielded in pieces."""
    if depth < 2 and isinstance(value, dict) and SEALED in value:  # as deep as `_holds_key`
        raise _reserved_for_sealing(what)
    if not isinstance(value, (str, dict, list, tuple)) or _left(value, PIECE) >= 0:
        text = _encoder.encode(value)
        _check(text, value, what)
        if depth == 0 and SEALED in text and _holds_key(value, SEALED):
            raise _reserved_for_sealing(what)
        yield text
    elif isinstance(value, str):
        yield '"'
        for start in range(0, len(value), PIECE):
            text = _encoder.encode(piece := value[start : start + PIECE])
            _check(text, piece, what)
            yield text[1:-1]
        yield '"'
    elif isinstance(value, dict):
        if STORED in value and not isinstance(value, StoredReference):
            raise _reserved_for_references(what)
        yield "{"
        yield from _items(sorted(value), lambda name: value[name], dict, what, depth)
        yield "}"
    else:
        yield "["
        yield from _items(range(len(value)), lambda index: value[index], list, what, depth)
        yield "]"


def _items(
    keys: Sequence[Any], item: Callable[[Any], Any], kind: type[Any], what: str, depth: int
) -> Iterator[str]:
    """Yield the members of an object or a list: small members together, large members in pieces."""
    comma, few, left = "", [], PIECE
    for key in keys:
        before = left
        left = _left((key, item(key)), left)
        if left >= 0:
            few.append(key)
            continue
        if few:
            yield comma + _members(few, item, kind, what, depth)
            comma, few = ",", []
        if before == PIECE or (left := _left((key, item(key)), PIECE)) < 0:
            yield comma + (_name(key, what) if kind is dict else "")
            yield from _texts(item(key), what, depth + 1)
            comma, left = ",", PIECE
        else:
            few = [key]
    if few:
        yield comma + _members(few, item, kind, what, depth)


def _members(
    keys: list[Any], item: Callable[[Any], Any], kind: type[Any], what: str, depth: int
) -> str:
    found: Any = {key: item(key) for key in keys}
    if kind is list:
        found = list(found.values())
    if depth == 0 and _holds_key(found, SEALED):
        raise _reserved_for_sealing(what)
    text = _encoder.encode(found)
    _check(text, found, what)
    return text[1:-1]


def _name(key: Any, what: str) -> str:
    text = _encoder.encode({key: 0})
    _check(text, key, what)
    return text[1:-2]


def _rejected(error: Exception, what: str) -> PayloadError:
    if isinstance(error, RecursionError):
        return PayloadError(f"The {what} is nested too deeply to be stored as JSON.")
    if isinstance(error, UnicodeEncodeError):
        return PayloadError(
            f"The {what} contains a lone surrogate (U+{ord(error.object[error.start]):04X}), "
            "which is not text. Decode bytes with errors='replace' first."
        )
    return PayloadError(f"The {what} cannot be stored as JSON: {error}.")


def _check(text: str, value: Any, what: str) -> None:
    if "\\u0000" in text and _holds_nul(value):
        raise PayloadError(
            f"The {what} contains a NUL character (U+0000), which PostgreSQL cannot store. "
            "Remove it."
        )
    if STORED in text and _holds_untrusted_reference(value):
        raise _reserved_for_references(what)


def _reserved_for_sealing(what: str) -> PayloadError:
    return PayloadError(
        f'The {what} holds an object with the key "{SEALED}", which is reserved for sealed '
        "payloads. Rename the key."
    )


def _reserved_for_references(what: str) -> PayloadError:
    return PayloadError(
        f'The {what} holds an object with the key "{STORED}", which is reserved for '
        "references to stored values. Rename the key; a copied reference is not a value."
    )


class StoredReference(dict[str, Any]):
    """A reference, created by the engine, to a value in object storage.

    `dump` rejects any other object that has the key `$stored`, so that a payload cannot imitate a
    reference.
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


def from_row(value: Any) -> Any:
    """Return a value that was read from a row; a reference is marked so that `dump` accepts it."""
    return StoredReference(value) if is_reference(value) else value


def trusted(value: Any) -> Any:
    """Return a value that was read from rows, with references marked so that `dump` accepts them.

    Never call it with a value from a module, a user or another system.
    """
    if is_reference(value):
        return StoredReference(value)
    if isinstance(value, dict):
        return {name: trusted(item) for name, item in value.items()}
    return [trusted(item) for item in value] if isinstance(value, list) else value


def _left(value: Any, left: int) -> int:
    """Return how many of `left` bytes remain after the JSON of `value` at its minimum size.

    Counting stops when the result is negative. A value that occurs many times is counted each time.
    Every payload passes through here, so the usual types are checked first.
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


# Types that are not counted, because their values are small and the commas between them are
# counted.
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
    """Return whether the value, or one of its items, is an object with the key."""
    if isinstance(value, str):
        return False
    items = value.values() if isinstance(value, dict) else value
    found = [value, *items] if isinstance(value, (dict, list, tuple)) else []
    return any(isinstance(one, dict) and key in one for one in found)


def _holds_untrusted_reference(value: Any) -> bool:
    """Return whether an object at any depth imitates a reference that the engine made."""
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
