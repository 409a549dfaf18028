"""System calls for which Python has no functions."""

import ctypes
import os
from typing import Any

CLONE_NEWNS = 0x0002_0000
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000
CLONE_NEWNET = 0x4000_0000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_REMOUNT = 1, 2, 4, 8, 32
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2

PR_SET_PDEATHSIG = 1
PR_SET_NO_NEW_PRIVS = 38
CAPABILITY_VERSION_3 = 0x2008_0522

_libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> int:
    """Call a function of libc by name. Raises OSError if it returns -1."""
    function = getattr(_libc, name)
    result = int(function(*arguments))
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def system_call(number: int, *arguments: Any) -> int:
    """Make a system call for which libc has no function. Raises OSError."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return call("syscall", ctypes.c_long(number), *wide)


def mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    """Make the mount system call; `kind` is a file system's type, or None. Raises OSError."""
    words = [source.encode(), target.encode(), kind.encode() if kind else None]
    call("mount", *words, ctypes.c_ulong(flags), options.encode() or None)


def prctl(option: int, value: int) -> None:
    """Make the prctl system call with one argument. Raises OSError."""
    call("prctl", option, ctypes.c_ulong(value), *[ctypes.c_ulong(0)] * 3)


def drop_capabilities() -> None:
    """Drop all capabilities, using capset(2) with three empty sets. Raises OSError."""
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    call("capset", header, (ctypes.c_uint32 * 6)())
