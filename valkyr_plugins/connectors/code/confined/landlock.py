"""Landlock (landlock(7)): irrevocably limit what this process may access.

It is the second defence, behind the namespaces. It forbids mounts, access to files outside the
named folders, TCP, and signals and abstract-socket connections to processes outside the sandbox.
Restricting files requires Linux 5.13; TCP, 6.7; signals and abstract sockets, 6.12. If the kernel
has no Landlock, code is rejected.
"""

import ctypes
import os

from valkyr_plugins.connectors.code.confined import kernel

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG = 1
PATH_BENEATH = 1

EXECUTE, READ_FILE, READ_DIR = 1 << 0, 1 << 2, 1 << 3
READING = EXECUTE | READ_FILE | READ_DIR
BITS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15}  # number of rights over files in each version
LATEST_BITS = 16
# Rights to create devices, sockets and named pipes, which a folder for files does not need.
ODD = (1 << 6) | (1 << 9) | (1 << 10) | (1 << 11)
BIND_TCP, CONNECT_TCP = 1, 2
ABSTRACT_SOCKETS, SIGNALS = 1, 2


class Ruleset(ctypes.Structure):
    """The C structure `landlock_ruleset_attr`."""

    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class Beneath(ctypes.Structure):
    """The C structure `landlock_path_beneath_attr`."""

    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """Return the version of Landlock in the kernel; 0 if Landlock is missing or off."""
    try:
        return kernel.system_call(CREATE_RULESET, None, 0, VERSION_FLAG)
    except OSError:
        return 0


def restrict(readable: str, *, writable: str) -> None:
    """Restrict this process to reading `readable` and writing `writable`.

    Requires no_new_privs. Raises OSError.
    """
    known = version()
    everything = (1 << BITS_BY_VERSION.get(known, LATEST_BITS)) - 1
    rules = Ruleset(everything)
    size = 8
    if known >= 4:
        rules.net, size = BIND_TCP | CONNECT_TCP, 16
    if known >= 6:
        rules.scoped, size = ABSTRACT_SOCKETS | SIGNALS, 24
    ruleset = kernel.system_call(CREATE_RULESET, ctypes.byref(rules), size, 0)
    _allow(ruleset, readable, READING)
    _allow(ruleset, writable, everything & ~(EXECUTE | ODD))
    kernel.system_call(RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, folder: str, rights: int) -> None:
    opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = Beneath(rights, opened)
        kernel.system_call(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(opened)
