"""A worker's database connections: none is inherited, and no broken one is left for later steps.

Celery closes connections around each task, but not a connection with an interrupted transaction.
With such a connection, each later task of the process or thread would fail.
"""

from typing import Any

from django.db import connections
from psycopg.pq import TransactionStatus

from executions import messaging
from executions.vendor_seams import django_connections


def tidy_around(sender: Any = None, **_: Any) -> None:
    """Tidy the connections before and after a Valkyr task, as a receiver of Celery's signals."""
    if messaging.is_ours(sender.name) and not sender.request.is_eager:
        tidy()


def tidy() -> None:
    """Leave no broken or half-used connection of this thread for the next task.

    Working connections are kept or returned to a pool, because opening one takes 3 ms.
    """
    for connection in connections.all(initialized_only=True):
        raw: Any = connection.connection
        if raw is None or connection.vendor != "postgresql":
            continue
        idle = not raw.closed and raw.pgconn.transaction_status == TransactionStatus.IDLE
        if raw.closed or raw.broken or connection.in_atomic_block or not idle:
            django_connections.discard(connection)
        elif "pool" in connection.settings_dict["OPTIONS"]:
            # Return the connection to the pool: a thread keeps none between tasks.
            connection.close()
        else:
            connection.close_if_unusable_or_obsolete()


def forget_parents() -> None:
    """Forget the parent process's connections and pools, so that a forked child opens new ones."""
    for connection in connections.all(initialized_only=True):
        django_connections.forget(connection)
