"""Read rows that are only shown, from the replica or from the primary."""

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
from executions.database.routing import first
from executions.messaging import redis_url
from executions.redis_client import open_client
from executions.replica.watch import ALIAS, ReplicaWatch

# Users who changed something a moment ago read their lists from the primary.
#
# A change sets a mark, which is a key in Redis that all web processes see. If there is no Redis, or
# if it does not answer, any user may have changed something, so all users read from the primary.


log = logging.getLogger(__name__)
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
TIMEOUT_SECONDS = 0.25


def marking(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Return the middleware that marks users after a request that may have changed rows."""

    def answered(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.method not in SAFE and (name := _name(request)):
            _mark(name)
        return response

    return answered


def changed_lately(request: HttpRequest) -> bool:
    """Return whether the user may have changed rows that the replica does not have yet."""
    name = _name(request)
    if not name:
        return False
    if not redis_url():
        return True
    try:
        return bool(_client().exists(name))
    except (redis.RedisError, OSError):
        return True


def _mark(name: str) -> None:
    if not redis_url():
        return
    # 1 s longer than the replica may lag, for the time between the commit and this line.
    seconds = ceil(valkyr_settings().replica_lag_seconds) + 1
    try:
        _client().set(name, 1, ex=seconds)
    except (redis.RedisError, OSError) as error:
        log.warning("a change could not be marked for readers of the replica: %s", error)


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
    """Return the result of `rows`, from the replica if the request may use it.

    Otherwise, the primary is read. `rows` may be called twice: again on the primary if the replica
    fails during the call. `rows` must read everything before it returns, and must write nothing.
    """
    if not _may(request):
        return rows()
    try:
        with _on_the_replica():
            return rows()
    except (_Lost, OperationalError, InterfaceError) as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise  # it timed out, and would time out on the primary, too
        _watch().distrust(error)
    return rows()


class _Lost(Exception):
    """The replica's session ended during a read."""


def _may(request: HttpRequest) -> bool:
    return (
        ALIAS in connections.settings
        and request.method in SAFE
        # The replica replicates the first database, not those of other cells.
        and alias() == first()
        # A transaction needs the primary's own snapshot.
        and not connections[alias()].in_atomic_block
        and _watch().fresh()
        and not changed_lately(request)
    )


@contextmanager
def _on_the_replica() -> Iterator[None]:
    """Make the replica's connection this thread's default in the block.

    So statements that are unaware of replicas read from the replica. The rows they return belong to
    the primary: later lookups and saves use the primary.
    """
    ours = alias()
    primary, replica = connections[ours], connections[ALIAS]
    replica.ensure_connection()
    connections[ours] = replica
    try:
        yield
        # The block may have handled the error itself, for example by showing "not available".
        if replica.connection is None or replica.connection.closed:
            raise _Lost("its session is closed")
    finally:
        connections[ours] = primary
        if replica.connection is not None and replica.connection.closed:
            replica.close()


@lru_cache(maxsize=1)
def _watch() -> ReplicaWatch:
    return ReplicaWatch(valkyr_settings().replica_lag_seconds)
