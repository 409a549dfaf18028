"""Limit how long a connection waits for the server's answer.

A frozen server keeps its TCP connections: the kernel confirms what the client sends, so neither
keepalives nor `statement_timeout`, which the server enforces, end the wait.

Relies on: psycopg's methods call `connection.wait(generator)` for each round trip; after the
seconds of a given `timeout`, it raises OperationalError without an SQLSTATE, and the transaction
status is ACTIVE (psycopg 3.3; 3.2 has no `timeout`, so its waits stay unlimited).
No public way: psycopg's own calls pass no timeout.
If it breaks: a request waits until a frozen server continues.
"""

import inspect
from collections.abc import Callable
from typing import Any

from psycopg import Connection, OperationalError
from psycopg.pq import TransactionStatus

SUPPORTED = "timeout" in inspect.signature(Connection.wait).parameters


def limit_waits(
    connection: Connection[Any], limit: Callable[[], float | None], silent: Callable[[float], None]
) -> None:
    """Ask `limit` for the maximum seconds of each wait from now on; None means no limit.

    If `limit` raises an error, the statement is not sent. After a wait that reached its limit, the
    connection is closed, `silent` is called with the seconds, and the statement raises
    OperationalError.
    """
    if not SUPPORTED or "wait" in vars(connection):
        return
    usual: Any = connection.wait

    def wait(generator: Any, **named: Any) -> Any:
        seconds = limit()
        if seconds is None or "timeout" in named:
            return usual(generator, **named)
        try:
            return usual(generator, timeout=seconds, **named)
        except OperationalError as error:
            # A server's error has a code; then the statement has ended, and the session is still
            # usable.
            status = connection.pgconn.transaction_status
            if error.sqlstate is None and status == TransactionStatus.ACTIVE:
                connection.pgconn.finish()
                silent(seconds)
            raise

    setattr(connection, "wait", wait)  # noqa: B010 - a method, so mypy refuses the assignment
