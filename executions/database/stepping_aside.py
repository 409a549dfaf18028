"""What a request gives back while it waits for something that takes long: others need it."""

from collections.abc import Callable
from contextvars import ContextVar

from django.db import close_old_connections

# Gives back the request's place among those that the process answers at once. Set by the server of
# the request; most servers have no such places.
leave: ContextVar[Callable[[], object] | None] = ContextVar("leave", default=None)


def step_aside() -> None:
    """Lend the connection, which comes from a pool, and the request's place to others."""
    close_old_connections()
    if (give_back := leave.get()) is not None:
        give_back()
