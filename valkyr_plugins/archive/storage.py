"""Store, read and delete the archive's files."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from uuid import uuid4

from executions.public.payload_store import CHUNK, ObjectStorage, translated
from valkyr_plugins.archive.conf import chosen
from valkyr_plugins.archive.errors import ArchiveBroken, ArchiveRefused, ArchiveUnavailable


def store(name: str, local: Path) -> None:
    """Copy a local file into the archive. Raises ArchiveUnavailable or ArchiveRefused."""
    with _reported("written", name):
        _storage().copy(name, local)


def digest(name: str) -> tuple[int, str]:
    """Read a whole file; return its size and its SHA-256 digest, in hex.

    Raises ArchiveUnavailable, ArchiveRefused, or ArchiveBroken if the file is missing.
    """
    size, made = 0, sha256()
    with opened(name) as file:
        while part := file.read(CHUNK):
            size += len(part)
            made.update(part)
    return size, made.hexdigest()


@contextmanager
def opened(name: str) -> Iterator[Any]:
    """Open a file. Raises ArchiveUnavailable, ArchiveRefused, or ArchiveBroken if it is missing."""
    with _reported("read", name), _storage().opened(name) as file:
        yield file


def remove(name: str) -> None:
    """Delete a file, if it exists. Raises ArchiveUnavailable or ArchiveRefused."""
    with _reported("deleted", name):
        _storage().remove(name)


def for_arrow(names: list[str]) -> tuple[list[str], Any]:
    """Return the paths of files as pyarrow expects them, and the file system that opens them."""
    from pyarrow.fs import FSSpecHandler, PyFileSystem

    paths, system = _storage().for_fsspec(names)
    return paths, PyFileSystem(FSSpecHandler(system))


def probe() -> None:
    """Test the storage with a file. Raises ArchiveUnavailable, ArchiveBroken or ArchiveRefused."""
    name = f"probe/{uuid4().hex}"
    with NamedTemporaryFile() as file:
        file.write(b"valkyr")
        file.flush()
        store(name, Path(file.name))
    found = digest(name)
    remove(name)
    if found != (6, sha256(b"valkyr").hexdigest()):
        raise ArchiveBroken("The storage returned another content than was written.")


def _storage() -> ObjectStorage:
    address = chosen().archive
    if not address:
        raise ArchiveRefused("VALKYR_ARCHIVE is not set, so archived executions cannot be read.")
    return ObjectStorage(address)


def _reported(what: str, name: str) -> AbstractContextManager[None]:
    return translated(
        what,
        lambda: ArchiveBroken(f"The file {name} is not in the archive. Restore it from a backup."),
        lambda kind: ArchiveUnavailable(
            f"The file {name} of the archive could not be {what} ({kind}). Check VALKYR_ARCHIVE, "
            "its credentials and the network."
        ),
    )
