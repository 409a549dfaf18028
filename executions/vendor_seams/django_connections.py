"""The state that Django keeps beside a database connection.

Relies on: `health_check_done`, `in_atomic_block`, `savepoint_ids`, `commit_on_exit`,
`needs_rollback`, `closed_in_transaction` and `run_on_commit` of `BaseDatabaseWrapper`,
`_connection_pools` of PostgreSQL's (Django 5.2).
No public way: `close()` refuses inside an atomic block, Django cannot be told that a connection
that was used around its cursors has answered, and only who registers a hook may say that it fails.
If it breaks: each hot statement pays a round trip for Django's health check, or a task that was
interrupted in a transaction spoils every later task of its process, or a forked child shares the
sockets in its parent's pool, or a hook of a step's own keeps what follows from being sent.
"""

from typing import Any


def mark_healthy(connection: Any) -> None:
    """The server has just answered: Django need not ask it before the next transaction."""
    connection.health_check_done = True


def is_outermost(connection: Any) -> bool:
    """Whether the innermost `atomic` block is the one at whose end Django commits."""
    return bool(
        connection.in_atomic_block
        and connection.commit_on_exit
        and not connection.savepoint_ids
        and not connection.needs_rollback
    )


def discard(connection: Any) -> None:
    """Close a connection, also in a transaction that nobody will end."""
    connection.in_atomic_block = False
    connection.savepoint_ids = []
    connection.needs_rollback = False
    connection.closed_in_transaction = False  # Celery may have closed it there already
    connection.close()


def forget(connection: Any) -> None:
    """Drop the parent's connection and pool in a forked child, without closing their sockets."""
    connection.connection = None
    getattr(connection, "_connection_pools", {}).pop(connection.alias, None)


def hooks_for_commit(connection: Any) -> int:
    """How many hooks wait for the commit."""
    return len(connection.run_on_commit)


def let_hooks_fail(connection: Any, *, after: int) -> int:
    """Make the hooks after the first `after` ones robust, so that none stops the others.

    Returns how many were made so.
    """
    hooks = connection.run_on_commit
    hooks[after:] = [(ids, hook, True) for ids, hook, _ in hooks[after:]]
    return len(hooks[after:])
