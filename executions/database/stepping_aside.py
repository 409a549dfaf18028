"""Release a request's resources while it waits for a slow operation."""

from collections.abc import Callable
from contextvars import ContextVar

from django.db import close_old_connections

# Releases the request's slot among those that the process serves at once. The request's server sets
# it; most servers have no such slots.
leave: ContextVar[Callable[[], object] | None] = ContextVar("leave", default=None)


def step_aside() -> None:
    """Close this thread's old connections, and release the request's slot in the server, if any."""
    close_old_connections()
    if (give_back := leave.get()) is not None:
        give_back()
