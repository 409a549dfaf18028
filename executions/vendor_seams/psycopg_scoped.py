"""Set up the session on the server before each statement.

A watched connection asks its watcher before each statement which commands are due, and sends them
in the same round trip if possible. The watcher may also execute a command by itself.

Relies on: `Connection.cursor_factory` and `Connection.server_cursor_factory`, which make every
cursor of a connection, whose statements go through `execute`, `executemany`, `stream` and `copy`; a
setting with `is_local` lasts from one Sync to the next if statements are sent together outside of a
transaction; `Connection.wait` runs the generator `execute`, which returns the results of what was
sent by `PGconn.send_prepare`, `send_query_prepared` or `send_query`; `PGconn` has the C library's
functions (psycopg 3.2, 3.3; PostgreSQL 15 to 18).
No public way: psycopg has no hook before a statement, and a server-side cursor is declared in a
round trip of its own.
If it breaks: statements of requests see the rows of all workspaces, or of none.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol

from psycopg import Connection, NotSupportedError
from psycopg.errors import InvalidSqlStatementName, error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus, PipelineStatus, TransactionStatus
from psycopg.pq.abc import PGresult
from psycopg.sql import Literal

from executions.vendor_seams.psycopg_pipeline import DUE, one_round_trip

# The connection's attribute with the names of the commands that its session has prepared.
PREPARED = "valkyr_prepared"
IDLE, OPEN = int(TransactionStatus.IDLE), int(TransactionStatus.INTRANS)
FAILED = int(TransactionStatus.INERROR)  # it accepts only a rollback
# Statements that read no rows, and may undo the settings. SAVEPOINT is not included, because it may
# be the first statement of its transaction.
SAVEPOINTS = ("ROLLBACK TO", "RELEASE SAVEPOINT")


class Watcher(Protocol):
    """Decides which commands are due on one connection."""

    def __call__(self, connection: Connection[Any]) -> tuple[bytes, ...]:
        """Return the commands that are due before the next statement of this transaction."""

    def forget(self) -> None:
        """Forget the settings that the open transaction has made."""

    def is_at_work(self) -> bool:
        """Return whether the current code needs commands before its statements."""


def watch(connection: Connection[Any], watcher: Watcher) -> None:
    """Ask the watcher before each statement of this connection, from now on.

    While the watcher is at work, a client-side cursor replaces each server-side cursor.
    """
    setattr(connection, DUE, watcher)
    on_server: Any = connection.server_cursor_factory
    usual: Any = connection.cursor_factory
    connection.cursor_factory = _scoped(usual)

    def server_cursor(of: Connection[Any], *, name: str, **options: Any) -> Any:
        if watcher.is_at_work():
            rows: Any = options.get("row_factory")
            return of.cursor(row_factory=rows)
        _send_alone(of)
        return on_server(of, name=name, **options)

    connection.server_cursor_factory = server_cursor  # type: ignore[assignment]


def is_watched(connection: Connection[Any]) -> bool:
    """Return whether the connection is watched already, as a connection from a pool may be."""
    return hasattr(connection, DUE)


def state(connection: Connection[Any]) -> int:
    """Return IDLE, OPEN, FAILED, or another state of the connection's transaction."""
    return connection.pgconn.transaction_status


def execute_prepared(connection: Connection[Any], command: str, params: Sequence[str]) -> None:
    """Execute one command in a round trip of its own; the session prepares it at its first use.

    This takes less CPU time than a command that is sent together with others.
    """
    names: dict[str, bytes] = vars(connection).setdefault(PREPARED, {})
    given = [one.encode() for one in params]
    name = names.get(command, b"valkyr_%d" % len(names))
    if command in names:
        try:
            _answer(connection, connection.pgconn.send_query_prepared, name, given)
            return
        except InvalidSqlStatementName:
            pass  # removed by DISCARD ALL, or by psycopg's DEALLOCATE ALL after a rollback
    _answer(connection, connection.pgconn.send_prepare, name, command.encode())
    names[command] = name
    _answer(connection, connection.pgconn.send_query_prepared, name, given)


def _answer(connection: Connection[Any], send: Callable[..., None], *given: Any) -> PGresult:
    """Send one message and return its result. Raises the server's error."""
    with connection.lock:
        send(*given)
        results: list[PGresult] = connection.wait(execute(connection.pgconn))
    (result,) = results
    if result.status not in {ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK}:
        raise error_from_result(result, encoding=connection.info.encoding)
    return result


def is_direct(connection: Connection[Any]) -> bool:
    """Return whether no pooler lends this connection's session to others. Uses one round trip.

    A pooler that lends sessions invents the process ID that it reports to its clients, because a
    client cancels its statements by that ID.
    """
    found = _answer(connection, connection.pgconn.send_query, b"SELECT pg_backend_pid()")
    return found.get_value(0, 0) == str(connection.pgconn.backend_pid).encode()


def literal(value: Any) -> str:
    """Return the value as an SQL literal."""
    return Literal(value).as_string(None)


class _ScopedExecution:
    """A mixin for cursor classes that sends the due commands before each statement."""

    connection: Connection[Any]

    def execute(self, query: Any, params: Any = None, **options: Any) -> Any:
        """Execute a query as the cursor does, after the due commands."""
        run: Any = super().execute  # type: ignore[misc]
        connection = self.connection
        if connection.pgconn.pipeline_status != PipelineStatus.OFF:
            return run(query, params, **options)
        watcher: Watcher = getattr(connection, DUE)
        if isinstance(query, str) and query.startswith(SAVEPOINTS):
            if query.startswith("ROLLBACK"):
                watcher.forget()
            return run(query, params, **options)
        due = watcher(connection)
        if not due:
            return run(query, params, **options)
        if isinstance(query, str) and ";" in query and not connection.autocommit:
            # Several statements in one text cannot be sent together with others.
            with one_round_trip(connection, before=due):
                pass
            return run(query, params, **options)
        with one_round_trip(connection, before=due):
            run(query, params, **options)
        return self

    def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:
        """Execute a query for each set of parameters as the cursor does, after the due commands."""
        run: Any = super().executemany  # type: ignore[misc]
        if self.connection.pgconn.pipeline_status != PipelineStatus.OFF:
            run(query, params_seq, **options)
            return
        with one_round_trip(self.connection):
            run(query, params_seq, **options)

    def stream(self, *arguments: Any, **options: Any) -> Any:
        """Stream the rows of a query as the cursor does, after the due commands."""
        _send_alone(self.connection)
        return super().stream(*arguments, **options)  # type: ignore[misc]

    def copy(self, *arguments: Any, **options: Any) -> Any:
        """Copy data as the cursor does, after the due commands."""
        _send_alone(self.connection)
        return super().copy(*arguments, **options)  # type: ignore[misc]


def _send_alone(connection: Connection[Any]) -> None:
    """Send the due commands before a statement that cannot be sent with them.

    Raises NotSupportedError if commands are due outside a transaction.
    """
    due = getattr(connection, DUE)(connection)
    if not due:
        return
    if connection.autocommit and state(connection) != OPEN:
        raise NotSupportedError("With row-level security this needs a transaction: open `atomic`.")
    with one_round_trip(connection, before=due):
        pass


@cache
def _scoped(factory: Any) -> Any:
    return type(f"Scoped{factory.__name__}", (_ScopedExecution, factory), {})
