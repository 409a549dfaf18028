"""Limits on the memory of a worker's processes.

A process that executes one step at a time can have a limited address space. Without a limit the
kernel's OOM killer chooses a process, which may not be the process that allocated the memory.
Processes whose threads execute many steps have no limit: the error could occur in any of the steps,
and the stacks and arenas of 256 threads take gigabytes of address space that no step uses.
"""

import resource

MEBIBYTE = 1024 * 1024
WORKER, ISOLATED = "VALKYR_WORKER_MEMORY_MB", "VALKYR_ISOLATED_MEMORY_MB"

_setting = ""  # the setting that gave this process its limit


def limit_memory(megabytes: int, setting: str, *, for_good: bool = False) -> None:
    """Limit this process's address space (RLIMIT_AS), unless a lower limit is already set.

    0 sets no limit. An allocation beyond the limit raises MemoryError, and the process continues.
    With `for_good`, neither this process nor its children can raise the limit.
    """
    global _setting  # noqa: PLW0603 - the limit is one of the process as well
    if not megabytes:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = megabytes * MEBIBYTE
    most = min([wanted, *(one for one in (soft, hard) if one != resource.RLIM_INFINITY)])
    resource.setrlimit(resource.RLIMIT_AS, (most, most if for_good else hard))
    if most == wanted:
        _setting = setting


def limited_megabytes() -> int:
    """Return this process's limit in MiB; 0 if it has none."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return 0 if soft == resource.RLIM_INFINITY else soft // MEBIBYTE


def what_to_raise() -> str:
    """Return which setting or system limit must be raised to give a process more memory."""
    return _setting or "the limit that the system sets (RLIMIT_AS)"
