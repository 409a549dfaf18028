"""Limit how long the statements of a page, an endpoint or a migration may take."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import DatabaseError, connections
from django.db.models.signals import post_migrate, pre_migrate

from executions.database import transaction
from executions.database.poolers import direct_url
from executions.database.routing import aliases, connection

PATIENCE_MS = 1_500

T = TypeVar("T")


@contextmanager
def hurried() -> Iterator[None]:
    """Limit each statement of the block to 1.5 s; a slower one raises OperationalError."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {PATIENCE_MS}")
        yield


def soon(query: Callable[[], T]) -> T | None:
    """Return the query's result; None if one of its statements fails or takes more than 1.5 s."""
    try:
        with hurried():
            return query()
    except DatabaseError:
        return None


# Longer limits for migrations: `manage.py migrate`, `make up`, a test's new database.
#
# The engine's limits are meant for short statements, and for clients that freeze. A change of
# tables may take longer than any query, and Django computes the models' state between two
# statements. The limit for a lock stays short, because all other transactions wait behind a
# migration's lock request.


PATIENCE = {
    "lock_timeout": "3s",
    "statement_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
}


def connect(app: Any) -> None:
    """Connect the signals that set other time limits while migrations run."""
    pre_migrate.connect(_begin, sender=app, dispatch_uid="executions.database.time_limits")
    post_migrate.connect(_end, sender=app, dispatch_uid="executions.database.time_limits")


def keeps_settings(of: str) -> bool:
    """Return whether a session keeps its settings, because no pooler shares it."""
    return not direct_url(of)


def _begin(using: str, **_: Any) -> None:
    _run(using, (f"SET {name} = '{value}'" for name, value in PATIENCE.items()))


def _end(using: str, **_: Any) -> None:
    _run(using, (f"RESET {name}" for name in PATIENCE))


def _run(using: str, statements: Any) -> None:
    if using not in aliases():
        return  # another database of the project
    if not keeps_settings(using):
        return
    with connections[using].cursor() as cursor:
        cursor.execute("; ".join(statements))


# The SQLSTATEs of a lock timeout and of a deadlock.
LOCKED = frozenset({"55P03", "40P01"})


def is_locked(error: Exception) -> bool:
    """Return whether a statement failed because of a lock: it timed out, or was in a deadlock."""
    return getattr(error.__cause__, "sqlstate", None) in LOCKED
