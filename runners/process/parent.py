"""A child of a pool ends with its worker, also where the worker dies while the child begins.

Celery asks the kernel to kill a child when its parent dies, in the child. A parent that dies before
that leaves a child which nobody kills: it waits for ever on a pipe whose other end it holds itself.
"""

import os
import signal

_parent = 0


def remember() -> None:
    """Note the process that forks; call it before each fork."""
    global _parent  # noqa: PLW0603 - children inherit it
    _parent = os.getpid()


def end_without() -> None:
    """End this process if its parent is gone; call it once the kernel was asked."""
    if _parent and os.getppid() != _parent:
        os.kill(os.getpid(), signal.SIGKILL)
