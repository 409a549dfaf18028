"""How much memory there is for this process and its siblings: the machine's, or its cgroup's."""

import os
from collections.abc import Iterator
from pathlib import Path

MEBIBYTE = 1024 * 1024
# A child of a pool takes 300 MiB of address space at rest; libraries that compute reserve more.
LEAST, MOST = 1024, 4096
SHARE = 4  # of the memory: one step takes no more than a quarter
GROUPS = Path("/proc/self/cgroup")
ROOT = Path("/sys/fs/cgroup")


def share_of_a_process() -> int:
    """MiB that a process may ask for where no setting says so."""
    return share_of(memory())


def share_of(total: int) -> int:
    """MiB that a process may ask for where there are so many bytes for all."""
    return max(LEAST, min(MOST, total // SHARE // MEBIBYTE))


def memory(groups: Path = GROUPS, root: Path = ROOT) -> int:
    """Bytes of memory: the machine's, or the least that a cgroup around this process allows."""
    found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for file in _limits(groups, root):
        try:
            text = file.read_text().strip()
        except OSError:
            continue
        if text.isdigit():  # not `max`
            found = min(found, int(text))
    return found


def _limits(groups: Path, root: Path) -> Iterator[Path]:
    """The files that hold limits, of cgroup v2 and v1, from the innermost group outwards."""
    try:
        lines = groups.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0":
            top, name = root, "memory.max"
        elif "memory" in controllers.split(","):
            top, name = root / "memory", "memory.limit_in_bytes"
        else:
            continue
        inner = top / path.lstrip("/")
        # A container may see the path on its host, which does not exist in it.
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(top):
                yield folder / name
