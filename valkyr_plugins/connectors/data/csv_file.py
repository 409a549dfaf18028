"""The one way of the CSV modules to a file: below the files folder, opened once a pass."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


@contextmanager
def opened(path: str) -> Iterator[tuple[BinaryIO, str]]:
    """A file to read, and a mark that is another one once the file has changed; StepError if none.

    What is put in the file's place meanwhile is not seen: the open file stays the old one.
    """
    from valkyr_plugins.connectors.files.root import folder_of, open_file

    with folder_of(path, create=False) as (folder, name):
        handle = open_file(folder, name, path, os.O_RDONLY)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        yield file, f"{status.st_size}-{status.st_mtime_ns}"


def written(path: str, data: bytes) -> None:
    """Put a whole file in its place: readers see the old one or the new one, never a part."""
    from valkyr_plugins.connectors.files.replacing import replace
    from valkyr_plugins.connectors.files.root import folder_of

    with folder_of(path, create=True) as (folder, name):
        replace(folder, name, path, data)
