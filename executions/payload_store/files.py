"""The files of stored values, by fsspec or, for a folder, by the system itself.

A file appears whole or not at all. fsspec is imported at the first use.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from executions.configuration import settings as valkyr_settings
from executions.payload_store.errors import PayloadStoreUnavailable, StoredValueBroken

FOLDER = "file://"
# Of a request, in seconds: the step's own limit holds as well.
CONNECT_SECONDS, READ_SECONDS = 5, 30


def write(name: str, data: bytes) -> None:
    """Write a file; raises PayloadStoreUnavailable. A folder's file is synced to the disk."""
    with _reported("written", name):
        if (folder := _folder()) is not None:
            _write_local(folder / name, data)
        else:
            system, root = _system(valkyr_settings().payload_store, os.getpid())
            system.pipe_file(f"{root}/{name}", data)


def read(name: str) -> bytes:
    """Return a file's bytes; raises StoredValueBroken without it, and PayloadStoreUnavailable."""
    with _reported("read", name):
        if (folder := _folder()) is not None:
            if not folder.is_dir():
                raise OSError(f"the folder {folder} does not exist")
            return (folder / name).read_bytes()
        system, root = _system(valkyr_settings().payload_store, os.getpid())
        return bytes(system.cat_file(f"{root}/{name}"))


def remove(name: str) -> None:
    """Delete a file, which may be gone; raises PayloadStoreUnavailable."""
    with suppress(StoredValueBroken), _reported("deleted", name):
        if (folder := _folder()) is not None:
            (folder / name).unlink()
        else:
            system, root = _system(valkyr_settings().payload_store, os.getpid())
            system.rm_file(f"{root}/{name}")


def probe() -> None:
    """Write, read and delete a small file; raises the errors of these operations."""
    name = f"probe/{uuid4().hex}"
    write(name, b"valkyr")
    if read(name) != b"valkyr":
        raise StoredValueBroken("The payload store returned another content than was written.")
    remove(name)


def _folder() -> Path | None:
    address = valkyr_settings().payload_store
    return Path(address.removeprefix(FOLDER)) if address.startswith(FOLDER) else None


def _write_local(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with part.open("xb") as file:
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
    system, root = url_to_fs(address, **options)
    return system, root.rstrip("/")


@contextmanager
def _reported(what: str, name: str) -> Iterator[None]:
    """Report errors of the store by one name. Its own texts may contain addresses and keys."""
    try:
        yield
    except FileNotFoundError as error:
        if what == "written":
            raise _unavailable(what, name, error) from error
        raise StoredValueBroken(
            f"The stored value {name} is not in the payload store. Restore it from a backup."
        ) from None
    except Exception as error:
        if isinstance(error, StoredValueBroken):
            raise
        raise _unavailable(what, name, error) from error


def _unavailable(what: str, name: str, error: Exception) -> PayloadStoreUnavailable:
    return PayloadStoreUnavailable(
        f"The stored value {name} could not be {what} ({type(error).__name__}). Check "
        "VALKYR_PAYLOAD_STORE, its credentials and the network; the engine tries again."
    )
