"""The file system that the code sees: Python's library, the system's, and an empty /tmp in memory.

There is no /proc, no /dev, no home: nothing of the worker's environment or files has a name here.
"""

import os
from pathlib import Path

from valkyr_plugins.connectors.code.confined import kernel

# Any folder will do that is always there and holds nothing that is needed later.
NEW_ROOT = "/proc"
SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo")
TMP = "/tmp"  # noqa: S108 - of the view, in memory
TMP_OPTIONS = "size=16m,nr_inodes=1000,mode=1777"


def sources() -> list[str]:
    """The folders that running Python needs, none inside another."""
    library = str(Path(os.__file__).parent)
    found: list[str] = []
    for path in sorted({*SYSTEM, library}, key=len):
        inside = any(Path(path).is_relative_to(other) for other in found)
        if Path(path).is_dir() and not inside:
            found.append(path)
    return found


def narrow() -> None:
    """Make the view this process's root; needs a mount namespace of its own. Raises OSError."""
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    kept = sources()
    kernel.mount("tmpfs", NEW_ROOT, "tmpfs", flags, "size=1m,mode=755")
    for path in kept:
        _show(path)
    tmp = f"{NEW_ROOT}{TMP}"
    Path(tmp).mkdir()
    kernel.mount("tmpfs", tmp, "tmpfs", flags | kernel.MS_NOEXEC, TMP_OPTIONS)
    os.chdir(NEW_ROOT)
    kernel.call("pivot_root", b".", b".")
    kernel.call("umount2", b".", kernel.MNT_DETACH)
    os.chdir(TMP)


def _show(path: str) -> None:
    target = Path(f"{NEW_ROOT}{path}")
    target.parent.mkdir(parents=True, exist_ok=True)
    if Path(path).is_symlink():
        target.symlink_to(Path(path).readlink())
        return
    target.mkdir()
    kernel.mount(path, str(target), None, kernel.MS_BIND | kernel.MS_REC)
