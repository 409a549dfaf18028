"""The state that Django keeps beside a database connection.

Relies on: `health_check_done`, `in_atomic_block`, `savepoint_ids` and `needs_rollback` of
`BaseDatabaseWrapper` (Django 5.2).
No public way: `close()` refuses inside an atomic block, and Django cannot be told that a connection
that was used around its cursors has answered.
If it breaks: each hot statement pays a round trip for Django's health check, or a task that was
interrupted in a transaction spoils every later task of its process.
"""

from typing import Any


def mark_healthy(connection: Any) -> None:
    """The server has just answered: Django need not ask it before the next transaction."""
    connection.health_check_done = True


def discard(connection: Any) -> None:
    """Close a connection, also in a transaction that nobody will end."""
    connection.in_atomic_block = False
    connection.savepoint_ids = []
    connection.needs_rollback = False
    connection.close()


def forget(connection: Any) -> None:
    """Drop the parent's connection in a forked child, without closing the parent's socket."""
    connection.connection = None
