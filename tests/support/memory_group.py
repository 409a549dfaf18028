"""A real cgroup with little memory, whose processes the kernel's OOM killer ends."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.waiting import wait_until

ROOT = Path("/sys/fs/cgroup")


class MemoryGroup:
    """Processes that share a limited amount of memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def join(self, pid: int) -> None:
        """Put a process into the group; its later children are in it too."""
        (self._folder / "cgroup.procs").write_text(str(pid))


@contextmanager
def memory_group(mebibytes: int) -> Iterator[MemoryGroup]:
    """Create a group with this much memory; skip the test if this system does not allow any."""
    old = (ROOT / "memory" / "memory.limit_in_bytes").exists()
    top, limit = (ROOT / "memory", "memory.limit_in_bytes") if old else (ROOT, "memory.max")
    folder = top / f"valkyr-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no cgroup can be made here: {error}")
    try:
        try:
            (folder / limit).write_text(str(mebibytes * 1024 * 1024))
        except OSError as error:
            pytest.skip(f"no cgroup's memory can be limited here: {error}")
        yield MemoryGroup(folder)
    finally:
        wait_until(lambda: _removed(folder), 10, "the end of the group's processes")


def _removed(folder: Path) -> bool:
    with suppress(OSError):  # a killed worker's watchdog ends a moment later
        folder.rmdir()
    return not folder.exists()
