"""Whether this worker was asked to end: then nobody in it begins another step.

The flag lies in memory that the children of a prefork worker share with their parent, since only
the parent is told (systemd and Kubernetes send their SIGTERM to the first process alone).
"""

import mmap

# Made when the parent imports this, before it forks.
_flag = mmap.mmap(-1, 1)


def begin() -> None:
    """From now on no further step is begun in this worker."""
    _flag[0] = 1


def draining() -> bool:
    """Whether this worker ends."""
    return _flag[0] == 1


def forget() -> None:
    """Work on (for tests, which end no process)."""
    _flag[0] = 0
