"""Limit the arenas of glibc's allocator in a worker with threads.

glibc gives threads up to eight arenas per processor, and each keeps the most memory that its
threads ever used. The worker's resident memory therefore grows for hours. Two arenas are enough:
the interpreter's lock lets one thread at a time allocate Python objects.
"""

import ctypes
import os

M_ARENA_MAX = -8  # <malloc.h>
ARENAS = 2


def limit_arenas() -> None:
    """Set the limit, unless MALLOC_ARENA_MAX or another C library decides it.

    Call it before the threads start: arenas that exist remain.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None and not os.environ.get("MALLOC_ARENA_MAX"):
        mallopt(M_ARENA_MAX, ARENAS)
