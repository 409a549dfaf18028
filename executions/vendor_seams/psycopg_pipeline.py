"""Send several statements in one round trip: BEGIN first and Sync last.

COMMIT may be included. It follows the statements, so it is skipped if one of them fails.

Relies on: `Pipeline.__exit__` runs the generator that `Pipeline._exit_gen()` returns, and that
generator is `_enqueue_sync`, `_communicate_gen`, then `_fetch_gen(flush=True)`. Each `execute` adds
its send command to `command_queue`, and runs `_communicate_gen`. Before both, it runs the generator
of the connection's `_start_query`, which sends `_get_tx_start_command()` by `_exec_command` if a
transaction is due, and in a pipeline waits for the answer (psycopg 3.2, 3.3).
No public way: psycopg sends each statement separately, waits for BEGIN, and requests a flush when a
pipeline ends.
If it breaks: statements that run together fail, or need another round trip, or the flush is back.
The flush stops the server's clock of `idle_in_transaction_session_timeout`, so a client that
freezes at that moment keeps its locks indefinitely.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from weakref import proxy

from psycopg import Connection, Pipeline
from psycopg.abc import PQGen
from psycopg.generators import send
from psycopg.pq import TransactionStatus

# The attribute of a connection with a function that returns the due commands (psycopg_scoped.py).
DUE = "valkyr_due"


@contextmanager
def one_round_trip(
    connection: Connection[Any], *, commit: bool = False, before: Sequence[bytes] | None = None
) -> Iterator[None]:
    """Send the statements of the block together; the block ends when all are answered.

    With `commit`, the transaction that is open or begins here is committed with the last statement.
    The commands `before` precede the statements; by default, those that are due on the connection.
    """
    if before is None:
        due = getattr(connection, DUE, None)
        before = due(connection) if due is not None else ()
    with connection.pipeline() as pipeline:
        # A weak reference avoids a cycle, so nothing is left for the garbage collector.
        itself: Any = proxy(pipeline)
        pipeline._exit_gen = partial(_end, itself)  # type: ignore[method-assign]
        pipeline._communicate_gen = _nothing  # type: ignore[method-assign]
        if begins(connection):
            _line_up(connection, connection._get_tx_start_command())
            connection._start_query = _nothing  # type: ignore[method-assign]
        for command in before:
            _line_up(connection, command)
        try:
            yield
            if commit:
                _line_up(connection, b"COMMIT")
        finally:
            vars(connection).pop("_start_query", None)


def begins(connection: Connection[Any]) -> bool:
    """Return whether the next statement of this connection begins a transaction."""
    return not connection.autocommit and is_idle(connection)


def is_idle(connection: Connection[Any]) -> bool:
    """Return whether no transaction is open."""
    return bool(connection.pgconn.transaction_status == TransactionStatus.IDLE)


def _line_up(connection: Connection[Any], command: bytes) -> None:
    for _ in connection._exec_command(command):
        pass  # in a pipeline it is only queued


def _nothing() -> Generator[Any, Any, None]:
    """Send nothing yet; the statement is sent together with the other statements."""
    yield from ()


def _end(pipeline: Pipeline) -> PQGen[None]:
    """Send all queued statements with one Sync, and read all answers."""
    pipeline._enqueue_sync()
    while pipeline.command_queue:
        pipeline.command_queue.popleft()()
    yield from send(pipeline.pgconn)
    yield from pipeline._fetch_gen(flush=False)
