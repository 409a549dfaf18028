"""Direct sessions in the source and the target of a move.

Writes after `without_triggers` fire no triggers and check no foreign keys, because the source
satisfies them. The rows can therefore be copied in any order.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from django.db import connections
from psycopg.errors import InsufficientPrivilege
from psycopg.pq import TransactionStatus

from executions.database import routing
from executions.database.advisory_locks import AdvisoryLock

Session = psycopg.Connection[Any]
# Locks that suspend retention and the upkeep of partitions in both databases during a move.
HELD = (AdvisoryLock.RETENTION, AdvisoryLock.PARTITIONS, AdvisoryLock.ARCHIVE)


class NotAllowed(Exception):
    """A database does not allow an action of the move; the message names the statement to run."""


@dataclass(frozen=True, slots=True)
class MoveSessions:
    """The sessions of a move, which commit each statement, and the aliases of their databases."""

    source: Session
    target: Session
    source_alias: str
    target_alias: str


@contextmanager
def opened(source_alias: str, target_alias: str) -> Iterator[MoveSessions]:
    """Open a session in each of the two databases until the block ends.

    Raises NotAllowed, or psycopg's OperationalError.
    """
    with _session(source_alias) as source, _session(target_alias) as target:
        for one, of in ((source, source_alias), (target, target_alias)):
            _require(one, of)
        yield MoveSessions(source, target, source_alias, target_alias)


@contextmanager
def without_retention(sessions: MoveSessions) -> Iterator[None]:
    """Prevent duties from deleting old rows during the block; first wait for running duties."""
    both = (sessions.source, sessions.target)
    for session in both:
        for lock in HELD:
            session.execute("SELECT pg_advisory_lock(%s)", [lock.value])
    try:
        yield
    finally:
        # When a session is closed, the server releases its locks a moment later, so release them
        # now.
        for session in both:
            if session.info.transaction_status == TransactionStatus.IDLE:
                with suppress(psycopg.Error):
                    session.execute("SELECT pg_advisory_unlock_all()")


def without_triggers(session: Session) -> None:
    """Let the rest of the transaction write rows without triggers and foreign key checks."""
    session.execute("SET LOCAL session_replication_role = replica")


@contextmanager
def _session(of: str) -> Iterator[Session]:
    given = connections[of].get_connection_params()
    for name in ("cursor_factory", "context", "prepare_threshold"):
        given.pop(name, None)
    session = psycopg.connect(**given, autocommit=True)
    try:
        for setting in (
            "statement_timeout = 0",
            "lock_timeout = 0",
            "idle_in_transaction_session_timeout = 0",
            "TimeZone = 'UTC'",
        ):
            session.execute(f"SET {setting}")
        yield session
    finally:
        session.close()


def _require(session: Session, of: str) -> None:
    try:
        with session.transaction():
            without_triggers(session)
    except InsufficientPrivilege:
        row = session.execute("SELECT current_user").fetchone()
        user = row[0] if row else "valkyr"
        cell = routing.cell_of(of) or "the first database"
        raise NotAllowed(
            f"In {cell}, the role {user} may not copy rows without triggers. Let a superuser run: "
            f'GRANT SET ON PARAMETER session_replication_role TO "{user}"'
        ) from None
