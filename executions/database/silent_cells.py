"""Limit how long a web request waits for a cell whose server does not respond.

A frozen server blocks every thread that waits for it, and the threads also serve the other cells.
If a wait reaches its limit and the server accepts no new session either, the open connections to
that cell fail immediately for the next ten seconds, instead of waiting. A slow server still
accepts new sessions.
"""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

import django.db
import psycopg
from django.db.backends.signals import connection_created

from executions.database.connections import open_session
from executions.database.routing import aliases, cell_of, first, serving
from executions.vendor_seams.psycopg_wait_limit import limit_waits

log = logging.getLogger(__name__)

# The limit for one wait of a request, in seconds. `statement_timeout` ends a statement after 30 s.
REQUEST_SECONDS = 35.0
# The limit, in seconds, for a request's query in one of several cells, such as for a page of a
# merged list or for an API token.
PART_SECONDS = 10.0
SILENT_SECONDS = 10.0

_limit: ContextVar[float | None] = ContextVar("silent_cells_limit", default=None)
# The monotonic times until which cells count as silent, by alias.
_silent: dict[str, float] = {}


@contextmanager
def request_in(of: str) -> Iterator[None]:
    """Use the database of that alias in the block, and limit each wait to REQUEST_SECONDS."""
    with serving(of), _limited(REQUEST_SECONDS):
        yield


@contextmanager
def part_in(of: str) -> Iterator[None]:
    """Use the database of that alias in the block, for a part that the response can omit.

    The first database is never omitted, so its waits have the same limit as in `request_in`.
    Raises OperationalError for a cell that was silent recently, before a connection is opened.
    """
    if _is_silent(of):
        raise django.db.OperationalError(_recently(of))
    with serving(of), _limited(REQUEST_SECONDS if of == first() else PART_SECONDS):
        yield


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Limit each wait for a database in the block; a longer wait raises OperationalError.

    A shorter limit of an enclosing block remains in force.
    """
    outer = _limit.get()
    token = _limit.set(seconds if outer is None else min(seconds, outer))
    try:
        yield
    finally:
        _limit.reset(token)


def connect() -> None:
    """With cells, limit the waits of each new connection to one of Valkyr's databases."""
    connection_created.connect(_connected, dispatch_uid="executions.database.silent_cells")


def _connected(connection: Any, **_: Any) -> None:
    known = aliases()
    if len(known) > 1 and connection.alias in known:
        of = connection.alias
        limit_waits(connection.connection, partial(_allowed, of), partial(_note, of))


def _allowed(of: str) -> float | None:
    """Return the limit of a wait in seconds; None for no limit.

    If there is a limit, raises OperationalError for a cell that was silent recently.
    """
    seconds = _limit.get()
    if seconds is not None and _is_silent(of):
        raise psycopg.OperationalError(_recently(of))
    return seconds


def _is_silent(of: str) -> bool:
    return _silent.get(of, 0.0) > time.monotonic()


def _recently(of: str) -> str:
    return f"the database of the cell {cell_of(of)!r} did not answer recently"


def _note(of: str, seconds: float) -> None:
    """Mark the cell as silent for ten seconds, unless its server accepts a new session."""
    try:
        with serving(of):
            open_session().close()
    except psycopg.Error:
        _silent[of] = time.monotonic() + SILENT_SECONDS
        log.exception("the database of the cell %r did not answer in %g s", cell_of(of), seconds)
    else:
        log.warning("a statement in the cell %r was stopped after %g s", cell_of(of), seconds)
