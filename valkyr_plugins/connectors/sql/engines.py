"""Connections to the databases of steps: a small pool per database and process.

Every connection goes to an address that was checked when the connection was opened. It is reset
when it is returned (`DISCARD ALL`), so no lock, setting or temporary table of one step reaches the
next. Pools that were idle for 120 s are closed when a step next connects.
"""

import atexit
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.engine import Connection

from runners.public.modules import address_rules, among, judge
from valkyr_plugins.connectors.sql.database import Database, reachable

MAX_ENGINES = 16
KEPT = 2  # number of connections that a pool keeps
MORE = 3  # maximum number of additional connections under load
IDLE_SECONDS = 120.0
RECYCLE_SECONDS = 600
WAIT_SECONDS = 10.0  # maximum wait for a connection of the pool
CONNECT_SECONDS = 10.0

# The time, in time.monotonic(), by which the connecting step must be connected.
connect_deadline: ContextVar[float] = ContextVar("connect_deadline")

LIBPQ: dict[str, Any] = {
    "application_name": "valkyr",
    # Use no identity of the worker itself: no password file and no Kerberos ticket.
    "passfile": "/dev/null",
    "gssencmode": "disable",
    "require_auth": "!gss,!sspi",
    # With these values, a lost server is detected within 30 s.
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    # With 0, psycopg prepares each statement, so that the server rejects several statements in one.
    "prepare_threshold": 0,
}


@dataclass(slots=True)
class Kept:
    """An engine, and the value of time.monotonic() at its last use."""

    engine: Engine
    used_at: float


@dataclass(slots=True)
class Pools:
    """The SQLAlchemy engines of one process, keyed by database."""

    pid: int
    engines: dict[Database, Kept] = field(default_factory=dict)


_lock = Lock()
_pools = Pools(os.getpid())


@contextmanager
def connected(database: Database, seconds: float, *, read_only: bool) -> Iterator[Connection]:
    """Yield a connection, opened within `seconds`, in a transaction that an error rolls back."""
    # Judge the host here, because an open connection of the pool does not connect again.
    judge(database.host, database.port)
    ranges = address_rules(database.host, database.port)
    if ranges:
        database = replace(database, ranges=ranges)
    mark = connect_deadline.set(time.monotonic() + seconds)
    try:
        with _engine(database).connect() as plain:
            connection = plain.execution_options(postgresql_readonly=read_only)
            with connection.begin():
                yield connection
    finally:
        connect_deadline.reset(mark)


def close_all() -> None:
    """Close every idle connection of this process."""
    with _lock:
        for kept in _pools.engines.values():
            kept.engine.dispose()
        _pools.engines.clear()


def _engine(database: Database) -> Engine:
    with _lock:
        _leave_behind_the_parents()
        _close_idle(database)
        kept = _pools.engines.get(database)
        if kept is None:
            kept = _pools.engines[database] = Kept(_made(database), 0)
        kept.used_at = time.monotonic()
        return kept.engine


def _leave_behind_the_parents() -> None:
    """Drop connections that a parent process opened, without closing its sockets."""
    if _pools.pid == os.getpid():
        return
    for kept in _pools.engines.values():
        kept.engine.dispose(close=False)
    _pools.pid = os.getpid()
    _pools.engines.clear()


def _close_idle(wanted: Database) -> None:
    """Close pools that were idle for a while and, if there are too many pools, the longest idle."""
    spare = len(_pools.engines) - MAX_ENGINES + (wanted not in _pools.engines)
    for number, database in enumerate(_idle(wanted)):
        kept = _pools.engines[database]
        if number < spare or time.monotonic() - kept.used_at > IDLE_SECONDS:
            kept.engine.dispose()
            del _pools.engines[database]


def _idle(wanted: Database) -> list[Database]:
    """Return the databases other than `wanted` that have no busy connection, longest idle first."""
    found = [
        (kept.used_at, database)
        for database, kept in _pools.engines.items()
        if database != wanted and not _busy(kept.engine)
    ]
    return [database for _, database in sorted(found, key=lambda one: one[0])]


def _busy(engine: Engine) -> bool:
    pool: Any = engine.pool
    return bool(pool.checkedout())


def _made(database: Database) -> Engine:
    engine = create_engine(
        URL.create(
            "postgresql+psycopg",
            username=database.user,
            password=database.password,
            host=database.host,
            port=database.port,
            database=database.name,
        ),
        connect_args=LIBPQ | dict(database.options),
        pool_size=KEPT,
        max_overflow=MORE,
        pool_timeout=WAIT_SECONDS,
        pool_recycle=RECYCLE_SECONDS,
        pool_pre_ping=True,
        pool_reset_on_return=None,  # `_forget_the_step` resets connections more thoroughly
        hide_parameters=True,
        use_native_hstore=False,
    )

    @event.listens_for(engine, "do_connect")
    def judge(dialect: Any, record: Any, arguments: Any, named: dict[str, Any]) -> None:
        """Allow only checked addresses, and keep the name for TLS. Raises StepError."""
        addresses = among(database.host, database.port, reachable(database))
        left = connect_deadline.get() - time.monotonic()
        named["host"] = ",".join([database.host] * len(addresses))
        named["hostaddr"] = ",".join(addresses)
        named["connect_timeout"] = max(2, int(min(CONNECT_SECONDS, left)))

    event.listen(engine, "reset", _forget_the_step)
    return engine


def _forget_the_step(connection: Any, record: Any, state: Any) -> None:
    if connection.closed:
        return
    connection.rollback()
    if state.terminate_only:
        return
    connection.autocommit = True
    connection.execute("DISCARD ALL")
    connection.autocommit = False


atexit.register(close_all)
