"""How much the process may use (setrlimit(2))."""

import math
import resource

MAX_FILE_BYTES = 8 * 1024 * 1024
MAX_OPEN_FILES = 16
SPARE_SECONDS = 2


def limit(seconds: float, memory_mb: int) -> None:
    """Bind this process: it can start no other, nor a thread, and grow no further.

    Processor time is a second line of defence: whoever waits for the process counts the time.
    """
    processor = math.ceil(seconds) + SPARE_SECONDS
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, processor),
        (resource.RLIMIT_FSIZE, MAX_FILE_BYTES),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_AS, memory_mb * 1024 * 1024),
        (resource.RLIMIT_NPROC, 1),
    ):
        _lower(kind, most)


def _lower(kind: int, most: int) -> None:
    """An administrator's limit that is lower already stays."""
    hard = resource.getrlimit(kind)[1]
    value = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (value, value))
