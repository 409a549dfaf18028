"""The files folder as a store, which never follows a symbolic link."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import BinaryIO

from runners.public.modules import StepError
from valkyr_plugins.connectors.files.root import (
    TEMPORARY,
    FileMissing,
    folder_of,
    open_file,
    open_folder,
    open_subfolder,
    replace,
)
from valkyr_plugins.connectors.files.store import PART, Facts, FileLocation, Mode, equal

MAX_DEPTH = 100


class LocalStore:
    """Files below `VALKYR_FILES_ROOT`."""

    def read(self, place: FileLocation, start: int, most: int) -> tuple[bytes, Facts]:
        """Return at most `most` bytes from byte `start` on, and the file's metadata."""
        with folder_of(place.rest, create=False) as (folder, name):
            handle = open_file(folder, name, place.rest, os.O_RDONLY)
        with os.fdopen(handle, "rb") as file:
            facts = _facts(place.rest, os.fstat(file.fileno()))
            file.seek(start)
            return file.read(most), facts

    def write(
        self, place: FileLocation, data: bytes, mode: Mode, content_type: str | None
    ) -> Facts:
        """Write or append to a file. With `create`, an existing file must have this content."""
        path = place.rest
        with folder_of(path, create=True) as (folder, name):
            if mode == "append":
                _append(folder, name, path, data)
            elif mode == "create" and _exists(folder, name):
                _require_same(folder, name, path, data)
            else:
                replace(folder, name, path, [data], new=mode == "create")
            return _facts(path, os.stat(name, dir_fd=folder, follow_symlinks=False))

    def copy(
        self, place: FileLocation, file: BinaryIO, mode: Mode, content_type: str | None
    ) -> Facts:
        """Write an open file's content. With `create`, an existing file must have this content."""
        path = place.rest
        with folder_of(path, create=True) as (folder, name):
            if mode == "create" and _exists(folder, name):
                with os.fdopen(open_file(folder, name, path, os.O_RDONLY), "rb") as found:
                    if not equal(file, partial(os.pread, found.fileno(), PART)):
                        raise StepError(f"{path!r} already exists with different content")
            else:
                parts = iter(lambda: file.read(PART), b"")
                replace(folder, name, path, parts, new=mode == "create")
            return _facts(path, os.stat(name, dir_fd=folder, follow_symlinks=False))

    def entries(self, place: FileLocation, recursive: bool) -> Iterator[Facts]:
        """Yield files and, unless `recursive`, folders; omit links and unfinished files."""
        prefix = "/".join(part for part in place.rest.split("/") if part not in ("", "."))
        with open_folder(place.rest) as folder:
            yield from _walk(folder, f"{prefix}/" if prefix else "", recursive, MAX_DEPTH)

    def delete(self, place: FileLocation) -> bool:
        """Delete a file or a link; return whether it existed. Raises StepError for a folder."""
        try:
            with folder_of(place.rest, create=False) as (folder, name):
                os.unlink(name, dir_fd=folder)
        except (FileNotFoundError, FileMissing):
            return False
        except (IsADirectoryError, PermissionError) as error:
            raise StepError(f"{place.rest!r} cannot be deleted: it is not a file") from error
        return True

    def close(self) -> None:
        """Do nothing, because the store holds no resource."""


def _walk(folder: int, prefix: str, recursive: bool, depth: int) -> Iterator[Facts]:
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        with suppress(FileNotFoundError):  # the entry was deleted meanwhile
            yield from _entry(entry, folder, prefix, recursive, depth)


def _entry(
    entry: "os.DirEntry[str]", folder: int, prefix: str, recursive: bool, depth: int
) -> Iterator[Facts]:
    path = prefix + os.fsencode(entry.name).decode("utf-8", "backslashreplace")
    if entry.is_dir(follow_symlinks=False):
        if not recursive:
            yield Facts(path, kind="folder")
        elif depth > 0:
            with open_subfolder(entry.name, folder, path) as below:
                yield from _walk(below, f"{path}/", recursive, depth - 1)
        else:
            raise StepError(f"{path!r} lies deeper than {MAX_DEPTH} folders")
    elif entry.is_file(follow_symlinks=False) and not _is_temporary(entry.name):
        yield _facts(path, os.stat(entry.name, dir_fd=folder, follow_symlinks=False))


def _is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(TEMPORARY)


def _facts(path: str, status: os.stat_result) -> Facts:
    modified = datetime.fromtimestamp(status.st_mtime, UTC).isoformat()
    return Facts(path, status.st_size, modified)


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _require_same(folder: int, name: str, path: str, data: bytes) -> None:
    """Raise StepError unless the file contains `data`, perhaps written by an earlier attempt."""
    with os.fdopen(open_file(folder, name, path, os.O_RDONLY), "rb") as file:
        if file.read(len(data) + 1) != data:
            raise StepError(f"{path!r} already exists with different content")


def _append(folder: int, name: str, path: str, data: bytes) -> None:
    handle = open_file(folder, name, path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with os.fdopen(handle, "ab", buffering=0) as file:
        # Allow one writer at a time, so that lines of different steps are never mixed.
        fcntl.flock(file, fcntl.LOCK_EX)
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())
