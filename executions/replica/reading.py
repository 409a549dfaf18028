"""Rows to show, from the replica or from the primary."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections
from django.http import HttpRequest
from psycopg.errors import QueryCanceled

from executions.replica.marks import SAFE, changed_lately
from executions.replica.watch import ALIAS, ReplicaWatch

T = TypeVar("T")


def read(request: HttpRequest, rows: Callable[[], T]) -> T:
    """What `rows` reads, from the replica where the request may; else from the primary.

    `rows` may be called twice: again on the primary, should the replica fail under it. It reads
    everything it wants before it returns, and writes nothing.
    """
    if not _may(request):
        return rows()
    try:
        with _on_the_replica():
            return rows()
    except (_Lost, OperationalError, InterfaceError) as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise  # it took too long, and would there as well
        _watch().distrust(error)
    return rows()


class _Lost(Exception):
    """The session ended while it was read from."""


def _may(request: HttpRequest) -> bool:
    return (
        ALIAS in connections.settings
        and request.method in SAFE
        # Within a transaction the primary's own view of things is wanted.
        and not connections[DEFAULT_DB_ALIAS].in_atomic_block
        and _watch().fresh()
        and not changed_lately(request)
    )


@contextmanager
def _on_the_replica() -> Iterator[None]:
    """In this thread, the default connection is the replica's.

    So statements that know nothing of replicas read there, and the rows they make belong to the
    primary: what is looked up from them later, or saved, goes there.
    """
    primary, replica = connections[DEFAULT_DB_ALIAS], connections[ALIAS]
    replica.ensure_connection()
    connections[DEFAULT_DB_ALIAS] = replica
    try:
        yield
        # Who reads may have taken a failure for "not available".
        if replica.connection is None or replica.connection.closed:
            raise _Lost("its session is closed")
    finally:
        connections[DEFAULT_DB_ALIAS] = primary
        if replica.connection is not None and replica.connection.closed:
            replica.close()


@lru_cache(maxsize=1)
def _watch() -> ReplicaWatch:
    return ReplicaWatch(settings.REPLICA_LAG_SECONDS)
