"""The form of a reference: ID, digest, size, type and a bounded preview."""

import re
from codecs import getincrementaldecoder
from hashlib import sha256
from typing import Any
from uuid import UUID

from executions.payloads import STORED, StoredReference, is_reference

DIGEST = re.compile(r"[0-9a-f]{64}")
TYPES: dict[type[Any], str] = {dict: "object", list: "array", str: "string"}
# Limits of a preview: keys of an object, items of a list, characters of a text, and levels.
KEYS, ITEMS, CHARACTERS, DEPTH = 12, 3, 80, 3
CUT = "…"
# The type of stored bytes (a content), which are not JSON.
CONTENT = "bytes"
MEDIA_TYPE = 200
BEGINNING = 4 * CHARACTERS


def reference(payload_id: UUID, digest: str, size: int, key: int, value: Any) -> StoredReference:
    """Return the reference to a value; `key` is 0 for an unsealed value."""
    made = StoredReference({STORED: str(payload_id), "digest": digest, "bytes": size})
    if key:
        made["key"] = key
    made["type"] = next((name for kind, name in TYPES.items() if isinstance(value, kind)), "number")
    made["preview"] = preview(value)
    return made


def content_reference(
    payload_id: UUID, digest: str, size: int, key: int, media_type: str, beginning: bytes
) -> StoredReference:
    """Return the reference to stored content: bytes that templates pass on and never load."""
    made = StoredReference({STORED: str(payload_id), "digest": digest, "bytes": size})
    if key:
        made["key"] = key
    made |= {"type": CONTENT, "mediaType": media_type[:MEDIA_TYPE]}
    made["preview"] = preview(_text_of(beginning))
    return made


def stored_reference(
    payload_id: UUID, digest: str, size: int, key: int, *, content: bool
) -> StoredReference:
    """Return a reference for reading a value or content, without a preview."""
    made = StoredReference({STORED: str(payload_id), "digest": digest, "bytes": size, "key": key})
    if content:
        made["type"] = CONTENT
    return made


def is_content(value: Any) -> bool:
    """Return whether a value is a reference to stored content."""
    return is_reference(value) and value.get("type") == CONTENT


def content_stem(payload_id: UUID | str) -> str:
    """Return the hash that replaces the digest in the file name of stored content."""
    return sha256(f"content {payload_id}".encode()).hexdigest()


def _text_of(beginning: bytes) -> str:
    """Return the first characters of UTF-8 text; "" for any other content."""
    try:
        text = getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        return ""
    return "" if "\x00" in text else text


def preview(value: Any, depth: int = DEPTH) -> Any:
    """Return a shortened copy, with the first keys of objects, so that secrets can be masked."""
    if isinstance(value, str):
        return value if len(value) <= CHARACTERS else value[:CHARACTERS] + CUT
    if isinstance(value, dict):
        if not depth:
            return CUT
        names = list(value)[:KEYS]
        found = {_cut(name): preview(value[name], depth - 1) for name in names}
        return found | ({CUT: CUT} if len(value) > KEYS else {})
    if isinstance(value, list | tuple):
        if not depth:
            return CUT
        items = [preview(item, depth - 1) for item in value[:ITEMS]]
        return items + ([CUT] if len(value) > ITEMS else [])
    return value if not isinstance(value, int) or abs(value) < 2**63 else CUT


def _cut(name: Any) -> str:
    text = str(name)
    return text if len(text) <= CHARACTERS else text[:CHARACTERS] + CUT


def facts(found: dict[str, Any]) -> tuple[str, str, int, int] | None:
    """Return the ID, digest, size and key of a reference; None if the reference is malformed."""
    try:
        made = str(UUID(found[STORED]))
        digest, size, key = found["digest"], found["bytes"], found.get("key", 0)
    except (KeyError, ValueError, AttributeError):
        return None
    if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
        return None
    if type(size) is not int or type(key) is not int:
        return None
    return made, digest, size, key
