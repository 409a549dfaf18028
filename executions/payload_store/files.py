"""The files of stored values."""

from contextlib import AbstractContextManager
from uuid import uuid4

from executions.configuration import settings as valkyr_settings
from executions.payload_store.errors import PayloadStoreUnavailable, StoredValueBroken
from executions.payload_store.object_storage import ObjectStorage, translated


def write(name: str, data: bytes) -> None:
    """Write a file; raises PayloadStoreUnavailable. A folder's file is synced to the disk."""
    with _reported("written", name):
        _storage().write(name, data)


def read(name: str) -> bytes:
    """Return a file's bytes; raises StoredValueBroken without it, and PayloadStoreUnavailable."""
    with _reported("read", name):
        return _storage().read(name)


def remove(name: str) -> None:
    """Delete a file, which may be gone; raises PayloadStoreUnavailable."""
    with _reported("deleted", name):
        _storage().remove(name)


def probe() -> None:
    """Write, read and delete a small file; raises the errors of these operations."""
    name = f"probe/{uuid4().hex}"
    write(name, b"valkyr")
    if read(name) != b"valkyr":
        raise StoredValueBroken("The payload store returned another content than was written.")
    remove(name)


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
