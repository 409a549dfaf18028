"""The archive's files, by fsspec or, for a folder, by the system itself.

A file appears whole or not at all. fsspec is imported at the first use.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from uuid import uuid4

from valkyr_plugins.archive.conf import chosen
from valkyr_plugins.archive.errors import ArchiveBroken, ArchiveRefused, ArchiveUnavailable

FOLDER = "file://"
CHUNK = 1024 * 1024
CONNECT_SECONDS, READ_SECONDS = 5, 30


def store(name: str, local: Path) -> None:
    """Copy a local file into the archive. Raises ArchiveUnavailable."""
    with reported("written", name):
        if (folder := _folder()) is not None:
            _store_locally(folder / name, local)
        else:
            system, root = _system(_address(), os.getpid())
            system.put_file(str(local), f"{root}/{name}")


def digest(name: str) -> tuple[int, str]:
    """Return the size and the SHA-256, in hex, of a file, which is read as a whole."""
    with reported("read", name):
        size, made = 0, sha256()
        with opened(name) as file:
            while part := file.read(CHUNK):
                size += len(part)
                made.update(part)
        return size, made.hexdigest()


@contextmanager
def opened(name: str) -> Iterator[Any]:
    """Open a file for reading; raises ArchiveBroken without it, and ArchiveUnavailable."""
    with reported("read", name):
        if (folder := _folder()) is not None:
            if not folder.is_dir():
                raise OSError(f"the folder {folder} does not exist")
            with (folder / name).open("rb") as file:
                yield file
        else:
            system, root = _system(_address(), os.getpid())
            with system.open(f"{root}/{name}", "rb") as file:
                yield file


def remove(name: str) -> None:
    """Delete a file; ignore a missing one. Raises ArchiveUnavailable."""
    with suppress(ArchiveBroken), reported("deleted", name):
        if (folder := _folder()) is not None:
            for part in folder.glob(f"{Path(name).parent}/.{Path(name).name}.*"):
                part.unlink(missing_ok=True)
            (folder / name).unlink()
        else:
            system, root = _system(_address(), os.getpid())
            system.rm_file(f"{root}/{name}")


def for_arrow(names: list[str]) -> tuple[list[str], Any]:
    """Return the paths of files, and the file system with which pyarrow opens them."""
    from fsspec.implementations.local import LocalFileSystem
    from pyarrow.fs import FSSpecHandler, PyFileSystem

    if (folder := _folder()) is not None:
        return [str(folder / name) for name in names], PyFileSystem(
            FSSpecHandler(LocalFileSystem())
        )
    system, root = _system(_address(), os.getpid())
    return [f"{root}/{name}" for name in names], PyFileSystem(FSSpecHandler(system))


@contextmanager
def reported(what: str, name: str) -> Iterator[None]:
    """Raise the archive's errors for those of the storage.

    The storage's own texts may contain addresses and keys.
    """
    try:
        yield
    except FileNotFoundError as error:
        if what == "written":
            raise _unavailable(what, name, error) from error
        raise ArchiveBroken(
            f"The file {name} is not in the archive. Restore it from a backup."
        ) from None
    except (ArchiveBroken, ArchiveUnavailable, ArchiveRefused):
        raise
    except Exception as error:
        raise _unavailable(what, name, error) from error


def _unavailable(what: str, name: str, error: Exception) -> ArchiveUnavailable:
    return ArchiveUnavailable(
        f"The file {name} of the archive could not be {what} ({type(error).__name__}). Check "
        "VALKYR_ARCHIVE, its credentials and the network."
    )


def _address() -> str:
    address = chosen().archive
    if not address:
        raise ArchiveRefused("VALKYR_ARCHIVE is not set, so archived executions cannot be read.")
    return address


def _folder() -> Path | None:
    address = _address()
    return Path(address.removeprefix(FOLDER)) if address.startswith(FOLDER) else None


def _store_locally(path: Path, local: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with local.open("rb") as source, part.open("xb") as file:
            while data := source.read(CHUNK):
                file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@lru_cache(maxsize=2)
def _system(address: str, process: int) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    options: dict[str, Any] = {}
    if address.startswith(("s3://", "s3a://")):
        options["config_kwargs"] = {
            "connect_timeout": CONNECT_SECONDS,
            "read_timeout": READ_SECONDS,
            "retries": {"max_attempts": 2},
        }
    # A listing of a folder must not hide a file that another process wrote.
    system, root = url_to_fs(address, use_listings_cache=False, **options)
    return system, root.rstrip("/")


def probe() -> None:
    """Write, read and delete a small file; raises the errors of these operations."""
    name = f"probe/{uuid4().hex}"
    with NamedTemporaryFile() as file:
        file.write(b"valkyr")
        file.flush()
        store(name, Path(file.name))
    found = digest(name)
    remove(name)
    if found != (6, sha256(b"valkyr").hexdigest()):
        raise ArchiveBroken("The storage returned another content than was written.")
