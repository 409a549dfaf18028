"""Who changed something a moment ago: their lists are read from the primary.

A mark is a key in Redis that all web processes see. While Redis does not answer nobody is known
to have changed nothing, so everybody reads the primary.
"""

import logging
from collections.abc import Callable
from functools import lru_cache
from math import ceil

import redis
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from redis.backoff import NoBackoff
from redis.retry import Retry

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
    seconds = ceil(settings.REPLICA_LAG_SECONDS) + 1
    try:
        _client().set(name, 1, ex=seconds)
    except (redis.RedisError, OSError) as error:
        log.warning("a change could not be marked for the replica's readers: %s", error)


def _name(request: HttpRequest) -> str:
    user = getattr(request, "user", None)
    known = user is not None and user.is_authenticated
    return f"{settings.VALKYR_KEY_PREFIX}changed:{user.pk}" if user and known else ""


@lru_cache(maxsize=1)
def _client() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
    )
