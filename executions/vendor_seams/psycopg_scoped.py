"""Statements that go to the server only after what each transaction has to begin with.

A connection that is `watched` asks before each statement what is due, and sends that in the same
round trip. So what is set for one transaction alone is set for every one, also where each statement
is a transaction of its own.

Relies on: `Connection.cursor_factory` and `Connection.server_cursor_factory`, which make every
cursor of a connection; what is set with `is_local` lasts from one Sync to the next where
statements are sent together outside of a transaction (psycopg 3.2, 3.3; PostgreSQL 15 to 18).
No public way: psycopg has no hook before a statement, and a cursor on the server declares itself
in a round trip of its own.
If it breaks: statements of requests see the rows of all workspaces, or none.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Protocol

from psycopg import Connection
from psycopg.pq import PipelineStatus, TransactionStatus

from executions.vendor_seams.psycopg_pipeline import DUE, one_round_trip

# They read no rows, and may undo what was set.
SAVEPOINTS = ("SAVEPOINT", "ROLLBACK TO", "RELEASE SAVEPOINT")
# A statement and its parameters.
Prefix = tuple[str, tuple[Any, ...]]


class Watcher(Protocol):
    """Says what each transaction has to begin with."""

    def __call__(self, connection: Connection[Any]) -> Sequence[Prefix]:
        """Return what is due before the next statement; it counts as sent."""

    def forget(self, connection: Connection[Any]) -> None:
        """Take nothing for sent any more."""

    def is_at_work(self) -> bool:
        """Whether anything would be due at the beginning of a transaction."""


def watch(connection: Connection[Any], watcher: Watcher) -> None:
    """Ask the watcher before each statement of this connection, from now on.

    While it is at work, a cursor that would be kept on the server is read at once instead.
    """
    if hasattr(connection, DUE):
        return
    setattr(connection, DUE, watcher)
    on_server: Any = connection.server_cursor_factory
    connection.cursor_factory = _scoped(connection.cursor_factory)

    def server_cursor(of: Connection[Any], *, name: str, **options: Any) -> Any:
        if watcher.is_at_work():
            return of.cursor(row_factory=options.get("row_factory"))
        watcher.forget(of)
        return on_server(of, name=name, **options)

    connection.server_cursor_factory = server_cursor  # type: ignore[assignment]


def in_transaction(connection: Connection[Any]) -> bool:
    """Whether a transaction is open that takes statements."""
    return connection.pgconn.transaction_status == TransactionStatus.INTRANS


def has_failed(connection: Connection[Any]) -> bool:
    """Whether the transaction that is open takes nothing but its end."""
    return connection.pgconn.transaction_status == TransactionStatus.INERROR


class _ScopedExecution:
    """Before a cursor class: what is due goes first."""

    connection: Connection[Any]

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        """As the cursor's own."""
        run: Any = super().execute  # type: ignore[misc]
        if self.connection.pgconn.pipeline_status != PipelineStatus.OFF:
            return run(query, params, **options)
        watcher: Watcher = getattr(self.connection, DUE)
        if isinstance(query, str) and query.startswith(SAVEPOINTS):
            if query.startswith("ROLLBACK"):
                watcher.forget(self.connection)
            return run(query, params, **options)
        if due := watcher(self.connection):
            with one_round_trip(self.connection, before=due):
                run(query, params, **options)
        else:
            run(query, params, **options)
        return self

    def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:
        """As the cursor's own."""
        run: Any = super().executemany  # type: ignore[misc]
        if self.connection.pgconn.pipeline_status != PipelineStatus.OFF:
            run(query, params_seq, **options)
            return
        with one_round_trip(self.connection):
            run(query, params_seq, **options)


@cache
def _scoped(factory: Any) -> Any:
    return type(f"Scoped{factory.__name__}", (_ScopedExecution, factory), {})
