"""How much memory a process of a prefork pool may ask for: a step that wants more fails alone.

Without a limit the kernel's OOM killer chooses a process, and not always the one that asked.
"""

import resource

MEBIBYTE = 1024 * 1024


def limit_memory(megabytes: int) -> None:
    """Limit this process's address space (RLIMIT_AS); a lower limit that is set already stays.

    0 sets none. What asks for more than that gets a MemoryError, and the process lives on.
    """
    if not megabytes:
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = megabytes * MEBIBYTE
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def limited_megabytes() -> int:
    """Return this process's limit in MiB; 0 where it has none."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return 0 if soft == resource.RLIM_INFINITY else soft // MEBIBYTE
