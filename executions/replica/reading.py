"""Rows to show, from the replica or from the primary."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from math import ceil
from typing import TypeVar

import redis
from django.db import InterfaceError, OperationalError, connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from psycopg.errors import QueryCanceled
from redis.backoff import NoBackoff
from redis.retry import Retry

from executions.configuration import settings as valkyr_settings
from executions.database import alias
from executions.messaging import redis_url
from executions.redis_client import open_client
from executions.replica.watch import ALIAS, ReplicaWatch

# Who changed something a moment ago: their lists are read from the primary.
#
# A mark is a key in Redis that all web processes see. While Redis does not answer nobody is known
# to have changed nothing, so everybody reads the primary.


log = logging.getLogger(__name__)
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
TIMEOUT_SECONDS = 0.25


def marking(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: whoever's request may have changed something is marked once it has."""

    def answered(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.method not in SAFE and (name := _name(request)):
            _mark(name)
        return response

    return answered


def changed_lately(request: HttpRequest) -> bool:
    """Whether the caller may have changed something that the replica lacks."""
    name = _name(request)
    if not name:
        return False
    try:
        return bool(_client().exists(name))
    except (redis.RedisError, OSError):
        return True


def _mark(name: str) -> None:
    # A second more than the replica may lag, for what comes between a commit and this line.
    seconds = ceil(valkyr_settings().replica_lag_seconds) + 1
    try:
        _client().set(name, 1, ex=seconds)
    except (redis.RedisError, OSError) as error:
        log.warning("a change could not be marked for the replica's readers: %s", error)


def _name(request: HttpRequest) -> str:
    user = getattr(request, "user", None)
    known = user is not None and user.is_authenticated
    return f"{valkyr_settings().key_prefix}changed:{user.pk}" if user and known else ""


@lru_cache(maxsize=1)
def _client() -> redis.Redis:
    return open_client(
        redis_url(),
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
    )


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
        and not connections[alias()].in_atomic_block
        and _watch().fresh()
        and not changed_lately(request)
    )


@contextmanager
def _on_the_replica() -> Iterator[None]:
    """In this thread, the default connection is the replica's.

    So statements that know nothing of replicas read there, and the rows they make belong to the
    primary: what is looked up from them later, or saved, goes there.
    """
    primary, replica = connections[alias()], connections[ALIAS]
    replica.ensure_connection()
    connections[alias()] = replica
    try:
        yield
        # Who reads may have taken a failure for "not available".
        if replica.connection is None or replica.connection.closed:
            raise _Lost("its session is closed")
    finally:
        connections[alias()] = primary
        if replica.connection is not None and replica.connection.closed:
            replica.close()


@lru_cache(maxsize=1)
def _watch() -> ReplicaWatch:
    return ReplicaWatch(valkyr_settings().replica_lag_seconds)
