"""Puts a whole file in its place at once: readers see the old one or the new one, never a part."""

import os
import secrets
from contextlib import suppress

from runners.public.modules import StepError
from valkyr_plugins.connectors.files.root import open_file

TEMPORARY = ".tmp"  # how a file ends that is being written


def replace(folder: int, name: str, path: str, data: bytes, *, new: bool = False) -> None:
    """Put a whole file in its place at once; with `new`, StepError where there is one already."""
    temporary = f".{name[:100]}.{secrets.token_hex(8)}{TEMPORARY}"
    handle = open_file(folder, temporary, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if new:
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        else:
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except FileExistsError:
        raise StepError(f"{path!r} exists already") from None
    except IsADirectoryError:
        raise StepError(f"{path!r} is a folder") from None
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
