"""The temporary folder of a file that is being written.

The writing process locks the folder, and the kernel unlocks it when the process ends, even by
SIGKILL. The next archiving turn on the machine removes unlocked folders, which can be large.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

# An unusual prefix, because old folders with this prefix are deleted. Nobody would choose it for an
# archive.
PREFIX = "valkyr-archive-unfinished-"
# Age of a folder in seconds after which a living process must have locked it.
LOCKED_AFTER = 60.0


@contextmanager
def work_folder() -> Iterator[Path]:
    """Make a temporary folder, and remove it at the end of the block."""
    with TemporaryDirectory(prefix=PREFIX) as name:
        folder = Path(name)
        with _opened(folder) as descriptor:
            flock(descriptor, LOCK_EX | LOCK_NB)
            yield folder


def remove_abandoned() -> None:
    """Remove the folders that this user's killed processes left on this machine."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), _opened(folder) as descriptor:
            found = os.fstat(descriptor)
            if found.st_uid != os.geteuid() or time.time() - found.st_mtime < LOCKED_AFTER:
                continue
            flock(descriptor, LOCK_EX | LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
