"""Files below an address: a folder on this system, or any storage that fsspec supports.

In folders and object stores, files appear complete or not at all. fsspec is imported when used.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

from executions.errors import ValkyrError
from executions.payload_store import s3_upload
from executions.payload_store.s3_upload import BLOCK

FOLDER = "file://"
CHUNK = 1024 * 1024
# Timeouts of a request, in seconds.
CONNECT_SECONDS, READ_SECONDS = 5, 30


@dataclass(frozen=True, slots=True)
class ObjectStorage:
    """The files below an address, such as `s3://bucket/prefix` or `file:///srv/files`.

    Its methods raise FileNotFoundError, OSError and the errors of the storage's client;
    `translated` converts these errors to errors with a message.
    """

    address: str

    def write(self, name: str, data: bytes) -> None:
        """Write a file. If the store is a folder, the file is synced to disk."""
        if (folder := self.folder) is not None:
            _write_local(folder / name, [data])
        else:
            self._system.pipe_file(self._path(name), data)

    def write_parts(self, name: str, parts: Iterable[bytes]) -> None:
        """Write a file in parts, with only a few MiB in memory at a time."""
        if (folder := self.folder) is not None:
            _write_local(folder / name, parts)
            return
        if hasattr(self._system, "call_s3"):
            s3_upload.write(self._system, self._path(name), parts)
            return
        left = iter(parts)
        first = list(_up_to(left, BLOCK))
        if sum(map(len, first)) <= BLOCK:
            self._system.pipe_file(self._path(name), b"".join(first))
            return
        file = self._system.open(self._path(name), "wb", block_size=BLOCK)
        try:
            while first:
                file.write(first.pop(0))
            for part in left:
                file.write(part)
            file.close()
        except BaseException:
            _discard(file)
            raise

    def copy(self, name: str, local: Path) -> None:
        """Write a file with the content of a local file, which is read in parts."""
        if (folder := self.folder) is not None:
            with local.open("rb") as source:
                _write_local(folder / name, iter(lambda: source.read(CHUNK), b""))
        else:
            self._system.put_file(str(local), self._path(name))

    def read(self, name: str) -> bytes:
        """Return a file's bytes."""
        if self.folder is not None:
            with self.opened(name) as file:
                return bytes(file.read())
        return bytes(self._system.cat_file(self._path(name)))

    def read_range(self, name: str, start: int, size: int) -> bytes:
        """Return `size` bytes of a file from `start`, or fewer at its end."""
        if self.folder is None:
            return bytes(self._system.cat_file(self._path(name), start=start, end=start + size))
        with self.opened(name) as file:
            file.seek(start)
            return file.read(size)

    @contextmanager
    def opened(self, name: str, *, buffered: bool = True) -> Iterator[BinaryIO]:
        """Open a file for reading; without `buffered`, fsspec's own buffer is small.

        Raises OSError if the folder of the address does not exist.
        """
        if (folder := self.folder) is not None:
            if not folder.is_dir():
                raise OSError(f"the folder {folder} does not exist")
            with (folder / name).open("rb") as file:
                yield file
        else:
            small = {"cache_type": "readahead", "block_size": CHUNK}
            options: dict[str, Any] = {} if buffered else small
            with self._system.open(self._path(name), "rb", **options) as file:
                yield file

    def remove(self, name: str) -> None:
        """Delete a file, if it exists.

        In a folder, also delete incomplete files that a killed process left.
        """
        with suppress(FileNotFoundError):
            if (folder := self.folder) is not None:
                for part in folder.glob(f"{Path(name).parent}/{_part_of(Path(name).name, '*')}"):
                    part.unlink(missing_ok=True)
                (folder / name).unlink()
            else:
                self._system.rm_file(self._path(name))

    def for_fsspec(self, names: list[str]) -> tuple[list[str], Any]:
        """Return the paths of files, and the fsspec file system that opens them."""
        if (folder := self.folder) is not None:
            from fsspec.implementations.local import LocalFileSystem

            return [str(folder / name) for name in names], LocalFileSystem()
        return [self._path(name) for name in names], self._system

    @property
    def folder(self) -> Path | None:
        """Return the folder of a `file://` address; None for any other address."""
        is_folder = self.address.startswith(FOLDER)
        return Path(self.address.removeprefix(FOLDER)) if is_folder else None

    @property
    def _system(self) -> Any:
        return _opened_system(self.address, os.getpid())[0]

    def _path(self, name: str) -> str:
        return f"{_opened_system(self.address, os.getpid())[1]}/{name}"


@contextmanager
def translated(
    what: str, missing: Callable[[], ValkyrError], unavailable: Callable[[str], ValkyrError]
) -> Iterator[None]:
    """Raise `missing` for a missing file, and `unavailable` for other errors.

    A ValkyrError passes unchanged. `what` names the operation on the file: "written", "read" or
    "deleted". For "written", a missing file also raises `unavailable`. `unavailable` receives the
    name of the error's class, because the error's text may contain addresses and keys.
    """
    try:
        yield
    except ValkyrError:
        raise
    except FileNotFoundError as error:
        if what == "written":
            raise unavailable(type(error).__name__) from error
        raise missing() from None
    except Exception as error:
        raise unavailable(type(error).__name__) from error


def _part_of(name: str, unique: str) -> str:
    return f".{name}.{unique}"


def _up_to(parts: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Yield parts until their total size exceeds this number of bytes."""
    while size >= 0 and (part := next(parts, None)) is not None:
        size -= len(part)
        yield part


def _discard(file: Any) -> None:
    """Abandon an fsspec file that is being written, so that no part of it appears."""
    with suppress(Exception):
        file.discard()
    # Otherwise, the destructor would complete the file.
    with suppress(AttributeError):
        file.closed = True


def _write_local(path: Path, parts: Iterable[bytes]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(_part_of(path.name, uuid4().hex))
    try:
        with part.open("xb") as file:
            for data in parts:
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


@lru_cache(maxsize=4)
def _opened_system(address: str, process: int) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    options: dict[str, Any] = {}
    if address.startswith(("s3://", "s3a://")):
        options["config_kwargs"] = {
            "connect_timeout": CONNECT_SECONDS,
            "read_timeout": READ_SECONDS,
            "retries": {"max_attempts": 2},
        }
    # No cache, because a cached listing of a folder could hide a file that another process wrote.
    system, root = url_to_fs(address, use_listings_cache=False, **options)
    return system, root.rstrip("/")
