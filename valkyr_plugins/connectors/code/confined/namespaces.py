"""A process table, a network, a file system and users of its own (namespaces(7))."""

import os
from pathlib import Path

from valkyr_plugins.connectors.code.confined import kernel

NOBODY = 65_534
APART = kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


def leave_for_children() -> None:
    """The next child is the first process of a table of its own; raises OSError.

    Whoever is not root needs a namespace of users for it, in which it stays who it is.
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
    """From now on no network, no shared memory and no mounts of others; raises OSError."""
    kernel.call("unshare", APART)


def become_nobody() -> None:
    """Root, whom limits do not bind, becomes a user who owns nothing."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


def count_alone() -> None:
    """A namespace of users in which this process is counted alone, and no power in it."""
    kernel.call("unshare", kernel.CLONE_NEWUSER)
    kernel.drop_capabilities()
