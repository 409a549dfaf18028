"""Stored content, kept in memory, for modules that are tested without a workflow."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from typing import Any, BinaryIO
from uuid import uuid4

from executions.payload_store.references import BEGINNING, content_reference
from executions.payloads import STORED, StoredReference

_CONTENTS: dict[str, bytes] = {}


def stored_content(data: bytes, media_type: str = "") -> StoredReference:
    """Store the data in memory, and return a reference to it for the inputs of `run_module`."""
    made = uuid4()
    _CONTENTS[str(made)] = data
    digest = sha256(data).hexdigest()
    return content_reference(made, digest, len(data), 0, media_type, data[:BEGINNING])


def content_of(reference: dict[str, Any]) -> bytes:
    """Return the bytes of the content that a module stored under this reference."""
    return _CONTENTS[reference[STORED]]


class MemoryContents:
    """The content store of a step that is being tested."""

    def store(self, parts: Iterable[bytes], media_type: str) -> StoredReference:
        """Store content in memory, and return a reference to it."""
        return stored_content(b"".join(parts), media_type)

    @contextmanager
    def open(self, reference: dict[str, Any]) -> Iterator[BinaryIO]:
        """Open stored content for reading."""
        yield BytesIO(content_of(reference))
