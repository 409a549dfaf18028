"""One round trip for several statements: all are sent at once, BEGIN first and Sync last.

COMMIT may go with them too. It follows the statements, so it is skipped where one of them fails.

Relies on: `Pipeline.__exit__` runs the generator that `Pipeline._exit_gen()` returns, and that
generator is `_enqueue_sync`, `_communicate_gen`, then `_fetch_gen(flush=True)`. Each `execute` adds
to `command_queue` what sends it, runs `_communicate_gen`, and before both the generator of the
connection's `_start_query`, which sends `_get_tx_start_command()` by `_exec_command` where a
transaction is due, and in a pipeline waits for the answer (psycopg 3.2, 3.3).
No public way: psycopg sends each statement by itself, waits for BEGIN, and asks for a flush when a
pipeline ends.
If it breaks: statements that run together fail, or take a round trip more, or the flush is back.
The flush stops the server's clock of `idle_in_transaction_session_timeout`, so a client that
freezes at that moment keeps its locks for ever; so does one that freezes between two statements.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import proxy

from psycopg import Connection, Pipeline
from psycopg.abc import PQGen
from psycopg.generators import send
from psycopg.pq import TransactionStatus

# The attribute of a connection that says what goes first (psycopg_scoped.py).
DUE = "valkyr_due"


@dataclass(frozen=True, slots=True)
class Due:
    """Commands that go first; `apart`: they are committed whatever becomes of what follows."""

    commands: tuple[bytes, ...]
    apart: bool


@contextmanager
def one_round_trip(
    connection: Connection[Any], *, commit: bool = False, before: Due | None = None
) -> Iterator[None]:
    """The block whose statements are sent together; it ends when all are answered.

    `commit`: the transaction that is open, or begins here, ends with the last of them. `before`
    goes first; where it is None, what the connection says is due.
    """
    watcher = getattr(connection, DUE, None)
    if before is None and watcher is not None:
        before = watcher(connection)
    with connection.pipeline() as pipeline:
        # No reference back to itself: nothing is left for the collector.
        itself: Any = proxy(pipeline)
        pipeline._exit_gen = partial(_end, itself)  # type: ignore[method-assign]
        pipeline._communicate_gen = _nothing  # type: ignore[method-assign]
        if before is not None and before.apart:
            _line_up_all(connection, before)
            pipeline._enqueue_sync()
        if begins(connection):
            _line_up(connection, connection._get_tx_start_command())
            connection._start_query = _nothing  # type: ignore[method-assign]
        if before is not None and not before.apart:
            _line_up_all(connection, before)
        try:
            yield
            if commit:
                _line_up(connection, b"COMMIT")
        finally:
            vars(connection).pop("_start_query", None)
    if before is not None and watcher is not None:
        watcher.sent()


def begins(connection: Connection[Any]) -> bool:
    """Whether the next statement of this connection begins a transaction."""
    return not connection.autocommit and (
        connection.pgconn.transaction_status == TransactionStatus.IDLE
    )


def _line_up_all(connection: Connection[Any], due: Due) -> None:
    for command in due.commands:
        _line_up(connection, command)


def _line_up(connection: Connection[Any], command: bytes) -> None:
    for _ in connection._exec_command(command):
        pass  # in a pipeline it only lines up


def _nothing() -> Generator[Any, Any, None]:
    """It is sent with all the rest."""
    yield from ()


def _end(pipeline: Pipeline) -> PQGen[None]:
    """Send everything and read all answers."""
    pipeline._enqueue_sync()
    while pipeline.command_queue:
        pipeline.command_queue.popleft()()
    yield from send(pipeline.pgconn)
    yield from pipeline._fetch_gen(flush=False)
