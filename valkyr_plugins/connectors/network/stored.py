"""Files below the files folder that requests take from and answers go to."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from runners.public.modules import StepError
from valkyr_plugins.connectors.files.root import folder_of, open_file


def read_file(path: str, limit: int) -> bytes:
    """The whole file; StepError where it is missing or holds more than `limit` bytes."""
    with folder_of(path, create=False) as (folder, name):
        handle = open_file(folder, name, path, os.O_RDONLY)
    with os.fdopen(handle, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise StepError(f"{path!r} holds more than the {limit} bytes that can be sent")
    return data


@contextmanager
def written_whole(path: str) -> Iterator[BinaryIO]:
    """A new file that takes its place when the block ends well, and leaves nothing else.

    Readers see the old file or the new one, never a part.
    """
    with folder_of(path, create=True) as (folder, name):
        temporary = f".{name[:100]}.{secrets.token_hex(8)}.tmp"
        handle = open_file(folder, temporary, path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        except IsADirectoryError:
            raise StepError(f"{path!r} is a folder") from None
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=folder)
