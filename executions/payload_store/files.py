"""Write, read and delete the files of stored values; the errors name the file."""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import BinaryIO, cast
from uuid import uuid4

from executions.configuration import settings as valkyr_settings
from executions.payload_store.errors import PayloadStoreUnavailable, StoredValueBroken
from executions.payload_store.object_storage import ObjectStorage, translated


def write(name: str, data: bytes) -> None:
    """Write a file. Raises PayloadStoreUnavailable.

    If the store is a folder, the file is synced to disk.
    """
    with _reported("written", name):
        _storage().write(name, data)


def write_parts(name: str, parts: Iterable[bytes]) -> None:
    """Write a file in parts; it appears when it is complete.

    Raises PayloadStoreUnavailable, and what `parts` raises.
    """
    source = _Source(parts)
    try:
        with _reported("written", name):
            _storage().write_parts(name, source)
    except PayloadStoreUnavailable:
        if source.failure is not None:
            raise source.failure from None
        raise


@contextmanager
def opened(name: str) -> Iterator[BinaryIO]:
    """Open a file for reading at any position; only the part that is read is in memory.

    Raises StoredValueBroken if the file is missing, and PayloadStoreUnavailable. Reads raise these
    errors as well.
    """
    with ExitStack() as stack:
        with _reported("read", name):
            file = stack.enter_context(_storage().opened(name, buffered=False))
        yield cast("BinaryIO", _Reported(file, name))


def read(name: str) -> bytes:
    """Return a file's bytes.

    Raises StoredValueBroken if the file is missing, and PayloadStoreUnavailable.
    """
    with _reported("read", name):
        return _storage().read(name)


def read_range(name: str, start: int, size: int) -> bytes:
    """Return `size` bytes of a file from `start`, or fewer at its end. Raises as `read` does."""
    with _reported("read", name):
        return _storage().read_range(name, start, size)


def remove(name: str) -> None:
    """Delete a file, if it exists. Raises PayloadStoreUnavailable."""
    with _reported("deleted", name):
        _storage().remove(name)


def probe() -> None:
    """Write, read and delete a small file. Raises the errors of these operations."""
    name = f"probe/{uuid4().hex}"
    write(name, b"valkyr")
    found = read(name)
    remove(name)
    if found != b"valkyr":
        raise StoredValueBroken("The payload store returned another content than was written.")


class _Source:
    """The parts to write; stores an error that they raise, which is not an error of the store."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self._parts = parts
        self.failure: Exception | None = None

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._parts
        except Exception as error:
            self.failure = error
            raise


class _Reported:
    """An open file whose errors name the file."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name

    def read(self, size: int) -> bytes:
        with _reported("read", self._name):
            return self._file.read(size)

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        with _reported("read", self._name):
            return self._file.seek(position, whence)


def _storage() -> ObjectStorage:
    return ObjectStorage(valkyr_settings().payload_store)


def _reported(what: str, name: str) -> AbstractContextManager[None]:
    return translated(
        what,
        lambda: StoredValueBroken(
            f"The stored value {name} is not in the payload store. Restore it from a backup."
        ),
        lambda kind: PayloadStoreUnavailable(
            f"The stored value {name} could not be {what} ({kind}). Check VALKYR_PAYLOAD_STORE, "
            "its credentials and the network; the engine tries again."
        ),
    )
