"""Ends a psycopg pipeline with Sync as the last message, without a Flush after it.

Relies on: `Pipeline.__exit__` runs the generator that `Pipeline._exit_gen()` returns, and that
generator is `_enqueue_sync`, `_communicate_gen`, then `_fetch_gen(flush=True)` (psycopg 3.2, 3.3).
No public way: psycopg always asks for a flush when a pipeline ends.
If it breaks: statements that run together fail, or the flush is back. The flush stops the server's
clock of `idle_in_transaction_session_timeout`, so a client that freezes at that moment keeps its
locks for ever.
"""

from functools import partial
from typing import Any
from weakref import proxy

from psycopg import Pipeline
from psycopg.abc import PQGen


def end_without_flush(pipeline: Pipeline) -> None:
    """Let this pipeline end with Sync as the last message."""
    # No reference back to itself: nothing is left for the collector.
    itself: Any = proxy(pipeline)
    pipeline._exit_gen = partial(_end, itself)  # type: ignore[method-assign]


def _end(pipeline: Pipeline) -> PQGen[None]:
    """Send what is left and read all answers."""
    try:
        pipeline._enqueue_sync()
        yield from pipeline._communicate_gen()
    finally:
        yield from pipeline._fetch_gen(flush=False)
