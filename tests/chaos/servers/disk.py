"""A small disk (a tmpfs, which only root can mount) that can be filled and emptied."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MEGABYTES = 384  # a new PostgreSQL takes some 100
PIECE = 1024 * 1024


@contextmanager
def small_disk() -> Iterator[Path]:
    """Mount a small disk; yield its folder, which is deleted afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="valkyr-disk-"))
    if os.geteuid() != 0:  # the fault is reported as not run
        yield folder
        return
    _run("mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m,mode=711", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        # A process that still has a file open there is ending.
        _run("umount", "--lazy", str(folder))
        folder.rmdir()


class Ballast:
    """A file that takes all free space on its disk."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "ballast"

    def fill(self) -> None:
        """Take all space that is free now; space that becomes free later is not taken."""
        with self._file.open("ab", buffering=0) as file, suppress(OSError):
            for piece in (PIECE, 4096, 512):
                with suppress(OSError):
                    while True:
                        os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), piece)

    def empty(self) -> None:
        """Free the space again."""
        self._file.unlink(missing_ok=True)


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}"
