"""The state that Django keeps for a database connection.

Relies on: `health_check_done`, `in_atomic_block`, `savepoint_ids`, `commit_on_exit`,
`needs_rollback`, `closed_in_transaction` and `run_on_commit` of `BaseDatabaseWrapper`, and
`_connection_pools` of PostgreSQL's subclass (Django 5.2).
No public way: `close()` does not end an atomic block; Django cannot mark a connection as healthy
if it was used without Django's cursors; and only the code that registers a hook can make it robust.
If it breaks: each frequent statement costs a round trip for Django's health check; a task that was
interrupted in a transaction breaks every later task of its process; a forked child shares the
sockets in its parent's pool; or a failing hook of a step prevents messages from being sent.
"""

from typing import Any


def mark_healthy(connection: Any) -> None:
    """Mark the connection as healthy, so that Django's next cursor does not check it."""
    connection.health_check_done = True


def is_outermost(connection: Any) -> bool:
    """Return whether Django commits at the end of the innermost `atomic` block."""
    return bool(
        connection.in_atomic_block
        and connection.commit_on_exit
        and not connection.savepoint_ids
        and not connection.needs_rollback
    )


def discard(connection: Any) -> None:
    """Close a connection, even in a transaction that will not end."""
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
    """Return the number of hooks that wait for the commit."""
    return len(connection.run_on_commit)


def let_hooks_fail(connection: Any, *, after: int) -> int:
    """Make the hooks after the first `after` hooks robust, so that none stops the others.

    Returns the number of changed hooks.
    """
    hooks = connection.run_on_commit
    hooks[after:] = [(ids, hook, True) for ids, hook, _ in hooks[after:]]
    return len(hooks[after:])
