"""Read stored values: whole within a limit, or in parts.

Finding a file uses no query, because the reference determines the file's name.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader, BytesIO
from typing import Any, BinaryIO
from uuid import UUID

from executions.configuration import settings as valkyr_settings
from executions.database import connection
from executions.payload_store import files
from executions.payload_store.digested import DigestedFile
from executions.payload_store.errors import (
    PayloadStoreUnavailable,
    StoredValueBroken,
    StoredValueTooLarge,
)
from executions.payload_store.object_storage import CHUNK
from executions.payload_store.references import content_stem, facts, is_content
from executions.payload_store.writing import file_name
from executions.payloads import MAX_BYTES, STORED, is_reference, references_in, trusted
from executions.sealing import SealBroken, frames

# Maximum bytes of a file that is read with one request.
SMALL = 4 * CHUNK


def text_of(workspace_id: UUID, reference: dict[str, Any]) -> bytes:
    """Return the JSON of a stored value. Call it outside any transaction.

    Raises StoredValueTooLarge above the limit, and the errors of `opened`.
    """
    check_size(size_of(reference))
    return b"".join(parts_of(workspace_id, reference))


@contextmanager
def opened(workspace_id: UUID, reference: dict[str, Any]) -> Iterator[BinaryIO]:
    """Open the JSON of a stored value, or stored content, of any size, for reading at any position.

    Holds only a few MiB in memory, unless an earlier version of Valkyr sealed the file. If the file
    is read from its beginning, its digest is checked at the end. Call it outside any transaction.
    Raises StoredValueBroken, PayloadStoreUnavailable, and the errors of sealing, also during reads.
    """
    found = _facts_of(reference)
    _, digest, size, key = found
    name = _name_of(workspace_id, found, reference)
    with _source(name, size) as source:
        content: Any = frames.SealedFile(source, name, key, workspace_id, size) if key else source
        checked: Any = DigestedFile(content, name, digest, size)
        yield BufferedReader(checked, CHUNK // 4)


def parts_of(workspace_id: UUID, reference: dict[str, Any]) -> Iterator[bytes]:
    """Yield the JSON of a stored value in parts; check the digest before the last part."""
    with opened(workspace_id, reference) as file:
        before = file.read(CHUNK)
        while part := file.read(CHUNK):
            yield before
            before = part
        yield before


def _facts_of(reference: dict[str, Any]) -> tuple[str, str, int, int]:
    found = facts(reference)
    if found is None:
        raise StoredValueBroken("The reference to a stored value is not one that Valkyr wrote.")
    if not valkyr_settings().payload_store:
        raise StoredValueBroken(
            "The value is in a payload store, and VALKYR_PAYLOAD_STORE is not set. Set it again."
        )
    return found


def _name_of(
    workspace_id: UUID, found: tuple[str, str, int, int], reference: dict[str, Any]
) -> str:
    payload_id, digest, *_ = found
    stem = content_stem(payload_id) if is_content(reference) else digest
    return file_name(workspace_id, stem, payload_id)


def part_of(workspace_id: UUID, reference: dict[str, Any], start: int, size: int) -> bytes:
    """Return `size` bytes of the JSON of a stored value, from `start`; fewer at its end.

    The digest is not checked. Call it outside any transaction. Raises the errors of `opened`.
    """
    if reference.get("key"):
        with opened(workspace_id, reference) as file:
            file.seek(start)
            return file.read(size)
    return files.read_range(_name_of(workspace_id, _facts_of(reference), reference), start, size)


@contextmanager
def _source(name: str, size: int) -> Iterator[BinaryIO]:
    if size <= SMALL:
        yield BytesIO(files.read(name))
        return
    with files.opened(name) as file:
        yield file


def check_size(size: int, most: int | None = None) -> None:
    """Raise StoredValueTooLarge above `most` bytes (default: VALKYR_PAYLOAD_LOAD_LIMIT)."""
    if size > (valkyr_settings().payload_load_limit if most is None else most):
        raise too_large(size, most)


def too_large(size: int, most: int | None = None) -> StoredValueTooLarge:
    """Return the error for a load of `size` bytes."""
    most = valkyr_settings().payload_load_limit if most is None else most
    return StoredValueTooLarge(
        f"The stored values to load have {size:,} bytes; at most {most:,} are allowed. Pass "
        "on less, for example from the module that makes the value, or raise "
        "VALKYR_PAYLOAD_LOAD_LIMIT."
    )


def load(workspace_id: UUID, value: Any, most: int | None = None, *, partly: bool = False) -> Any:
    """Return a value with its references replaced by values, except references to stored content.

    Values inside stored values are loaded as well. Together, the loaded values have at most `most`
    bytes (default: VALKYR_PAYLOAD_LOAD_LIMIT). With `partly`, references beyond this size are kept.
    Raises the errors of `text_of`.
    """
    return _Loading(workspace_id, most, partly).loaded(value)


def load_for_response(workspace_id: UUID, value: Any, most: int) -> Any:
    """Return a value as `load` does; outside a transaction, hold no database connection meanwhile.

    A value without references is returned unchanged. Raises the errors of `load`.
    """
    if next(references_in(value), None) is None:
        return value
    if not connection.in_atomic_block:
        connection.close()
    return load(workspace_id, value, most)


def shown(workspace_id: UUID, value: Any) -> Any:
    """Return a value as `load_for_response` does, or the value itself if it cannot be loaded."""
    try:
        return load_for_response(workspace_id, value, MAX_BYTES)
    except (PayloadStoreUnavailable, StoredValueBroken, StoredValueTooLarge, SealBroken):
        return value


def size_of(value: Any) -> int:
    """Return the minimum number of bytes that `load` reads; references to content count as 0."""
    known = (facts(found) for found in references_in(value) if not is_content(found))
    return sum(found[2] if found else 1 for found in known)


class _Loading:
    """Loads values, and counts their bytes before they are read."""

    def __init__(self, workspace_id: UUID, most: int | None, partly: bool) -> None:
        self._workspace_id, self._partly = workspace_id, partly
        self._most = valkyr_settings().payload_load_limit if most is None else most
        self._size = 0

    def loaded(self, value: Any) -> Any:
        """Return a value with its references replaced, at any depth, as `load` does."""
        if not self._partly:
            self._size += size_of(value)
            check_size(self._size, self._most)
        return self._filled(value)

    def _filled(self, value: Any) -> Any:
        if is_reference(value):
            return self._of(value)
        if isinstance(value, dict):
            return {name: self._filled(item) for name, item in value.items()}
        return [self._filled(item) for item in value] if isinstance(value, list) else value

    def _of(self, reference: dict[str, Any]) -> Any:
        if is_content(reference):
            return trusted(reference)
        if self._partly:
            if self._size + size_of(reference) > self._most:
                return trusted(reference)
            self._size += size_of(reference)
        text = b"".join(parts_of(self._workspace_id, reference)).decode()
        # The engine stored this value, so references in it are also the engine's.
        return self.loaded(json.loads(text)) if STORED in text else json.loads(text)
