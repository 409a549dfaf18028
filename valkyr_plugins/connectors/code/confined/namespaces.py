"""Isolate processes, network, users and file system, using namespaces(7)."""

import os
from pathlib import Path

from valkyr_plugins.connectors.code.confined import kernel

ROOT, NOBODY = 0, 65_534
HOST = "code"  # host name that the code sees
APART = kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


def leave_for_children() -> None:
    """Make the next child the first process of a new PID namespace. Raises OSError.

    A process that is not root also gets a user namespace, with the same user and group.
    """
    if os.geteuid() == 0:
        kernel.call("unshare", kernel.CLONE_NEWPID)
        return
    user, group = os.geteuid(), os.getegid()
    kernel.call("unshare", kernel.CLONE_NEWUSER | kernel.CLONE_NEWPID)
    here = Path("/proc/self")
    (here / "setgroups").write_text("deny")
    (here / "uid_map").write_text(f"{user} {user} 1")
    (here / "gid_map").write_text(f"{group} {group} 1")


def leave() -> None:
    """Give this process its own network, shared memory, mounts and host name. Raises OSError."""
    kernel.call("unshare", APART)
    kernel.call("sethostname", HOST.encode(), len(HOST))


def become_nobody(saved: int = NOBODY) -> None:
    """If this process is root, become `nobody`: the limit on processes does not apply to root.

    `saved` is the saved user ID. Bubblewrap, which is root without capabilities, can signal this
    process only if the saved user is root. The process itself cannot return to root after
    `count_alone`: a user namespace without a mapping has no root user.
    """
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, saved)


def count_alone() -> None:
    """Enter a user namespace that counts only this process toward limits; drop all capabilities.

    Raises OSError.
    """
    kernel.call("unshare", kernel.CLONE_NEWUSER)
    kernel.drop_capabilities()


# The file system that the code sees: libraries of Python and the system, and a /tmp in memory.
#
# Without /proc, /dev and a home folder, the code cannot name the worker's files or environment.


# A folder that always exists and whose content is not needed later.
NEW_ROOT = "/proc"
SYSTEM = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/share/zoneinfo")
PACKAGES = ("site-packages", "dist-packages")
TMP = "/tmp"  # noqa: S108 - of the view, in memory
TMP_OPTIONS = "size=16m,nr_inodes=1000,mode=1777"


def sources() -> list[str]:
    """Return the folders that a running Python needs, none inside another."""
    library = str(Path(os.__file__).parent)
    found: list[str] = []
    for path in sorted({*SYSTEM, library}, key=len):
        inside = any(Path(path).is_relative_to(other) for other in found)
        if Path(path).is_dir() and not inside:
            found.append(path)
    return found


def hidden() -> list[str]:
    """Return the folders in `sources` for installed packages; these can contain any files."""
    library = Path(os.__file__).parent
    found = {library / name for name in PACKAGES}
    for folder in map(Path, sources()):
        if not folder.is_symlink():
            found.update(one for name in PACKAGES for one in folder.glob(f"python3*/{name}"))
    return sorted(str(path) for path in found if path.is_dir() and not path.is_symlink())


def bound_tmp() -> None:
    """Limit the size and the number of files of an existing /tmp. Raises OSError."""
    flags = kernel.MS_REMOUNT | kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("none", TMP, None, flags, TMP_OPTIONS)


def narrow() -> None:
    """Make the restricted file system this process's root. Requires `leave`. Raises OSError."""
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    kept, covered = sources(), hidden()
    kernel.mount("tmpfs", NEW_ROOT, "tmpfs", flags, "size=1m,mode=755")
    for path in kept:
        _show(path)
    for path in covered:
        kernel.mount("tmpfs", f"{NEW_ROOT}{path}", "tmpfs", flags | kernel.MS_RDONLY, "size=4k")
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
