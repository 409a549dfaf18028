"""Release a request's resources while it waits for a slow operation."""

from collections.abc import Callable
from contextvars import ContextVar

from django.db import close_old_connections

# Releases the request's slot, if the server limits how many requests it handles at once. Such a
# server sets it; most servers have no such limit.
leave: ContextVar[Callable[[], object] | None] = ContextVar("leave", default=None)


def step_aside() -> None:
    """Close this thread's old connections, and release the request's slot in the server, if any."""
    close_old_connections()
    if (give_back := leave.get()) is not None:
        give_back()
