"""The only local folder that file steps may use, and the functions that open files below it.

Paths with `..` are rejected. Folders are opened one by one without following symbolic links, so no
link leads outside, even if it is created during the access.
"""

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runners.public.modules import StepError
from valkyr_plugins.connectors.conf import settings

FILES_ROOT = "VALKYR_FILES_ROOT"
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: to open a named pipe would otherwise block until a process opens the other end.
FILE_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class FileMissing(StepError):
    """The file, or a folder of its path, does not exist."""


def path_parts(path: str) -> list[str]:
    """Return the folders and the name of a path below the root.

    Raises StepError for a path that is empty or absolute, or contains `..`, a backslash or NUL.
    """
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts or "\x00" in path or "\\" in path:
        raise StepError(
            f"path {path[:200]!r} must be below the files folder: write it without a leading "
            "'/', '..' or '\\'"
        )
    if not parts:
        raise StepError("path is empty: name a file")
    return parts


@contextmanager
def folder_of(path: str, *, create: bool) -> Iterator[tuple[int, str]]:
    """Yield the descriptor of a file's folder, and the file's name; `create` adds the folders."""
    *folders, name = path_parts(path)
    current = os.open(_root(create), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            following = _open_folder(folder, current, path, create)
            os.close(current)
            current = following
        yield current, name
    finally:
        os.close(current)


@contextmanager
def open_folder(path: str) -> Iterator[int]:
    """Open a folder and yield its descriptor; the empty path is the files folder."""
    if not path.strip("/.") and not path.startswith("/") and ".." not in path:
        handle = os.open(_root(create=False), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield handle
        finally:
            os.close(handle)
        return
    with folder_of(path, create=False) as (parent, name), open_subfolder(name, parent, path) as it:
        yield it


@contextmanager
def open_subfolder(name: str, parent: int, path: str) -> Iterator[int]:
    """Open a subfolder of an open folder and yield its descriptor.

    Raises StepError if it is not a plain folder.
    """
    handle = _open_folder(name, parent, path, create=False)
    try:
        yield handle
    finally:
        os.close(handle)


def open_file(folder: int, name: str, path: str, flags: int) -> int:
    """Return the descriptor of a regular file. Raises FileMissing, StepError or OSError."""
    try:
        handle = os.open(name, flags | FILE_FLAGS, 0o640, dir_fd=folder)
    except FileNotFoundError:
        raise FileMissing(f"there is no file {path!r} in the files folder") from None
    except OSError as error:
        raise _refusal(path, error) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise StepError(f"{path!r} is not a regular file")
    return handle


def _root(create: bool) -> Path:
    setting = settings().files_root
    if not setting:
        raise StepError(
            f"file steps are off: an administrator turns them on by setting {FILES_ROOT} to the "
            "folder they may use"
        )
    root = Path(setting)
    if create:
        root.mkdir(parents=True, exist_ok=True)
    if not root.is_dir():
        raise StepError(f"{FILES_ROOT} names {setting!r}, which is not a folder: create it")
    return root


def _open_folder(name: str, parent: int, path: str, create: bool) -> int:
    try:
        if create:
            _make_folder(name, parent)
        return os.open(name, FOLDER_FLAGS, dir_fd=parent)
    except FileNotFoundError:
        raise FileMissing(f"there is no folder {name!r} on the way to {path!r}") from None
    except OSError as error:
        raise _refusal(path, error) from error


def _make_folder(name: str, parent: int) -> None:
    with suppress(FileExistsError):
        os.mkdir(name, 0o750, dir_fd=parent)


def _refusal(path: str, error: OSError) -> Exception:
    """Return a StepError if part of a path has the wrong type; otherwise the error itself."""
    if isinstance(error, NotADirectoryError | IsADirectoryError) or error.errno == errno.ELOOP:
        return StepError(
            f"{path!r} contains a part that is not a regular folder or file; symbolic links "
            "are not followed"
        )
    return error


# Write a whole file atomically: readers see the old file or the new file, never a part.


TEMPORARY = ".tmp"  # suffix of a file that is being written


def replace(
    folder: int, name: str, path: str, parts: Iterable[bytes], *, new: bool = False
) -> None:
    """Replace a file atomically. Raises StepError for a folder or, with `new`, an existing file."""
    temporary = f".{name[:100]}.{secrets.token_hex(8)}{TEMPORARY}"
    handle = open_file(folder, temporary, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        if new:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        else:
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except FileExistsError:
        raise StepError(f"{path!r} already exists") from None
    except IsADirectoryError:
        raise StepError(f"{path!r} is a folder") from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
