"""End a pool's child with its worker, even if the worker dies while the child starts.

Celery asks the kernel, in the child, to kill the child when its parent dies. If the parent dies
before that request, the child remains: it waits forever on a pipe whose other end it holds itself.
"""

import os
import signal

_parent = 0


def remember() -> None:
    """Store this process's ID as the parent ID for its children; call this before each fork."""
    global _parent  # noqa: PLW0603 - children inherit it
    _parent = os.getpid()


def end_without() -> None:
    """End this process if its parent ended before the kernel was asked to watch the parent."""
    if _parent and os.getppid() != _parent:
        os.kill(os.getpid(), signal.SIGKILL)
