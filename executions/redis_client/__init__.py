"""Clients of a Redis server, found by its address or by the addresses of its Sentinels.

`sentinel://:password@host:26379/0;sentinel://:password@host:26379/0` names Sentinels, as for
Celery. The user, the password and the database belong to Redis, and are read from the first
address. The primary's name and the Sentinels' own password are read from Celery's options
(`master_name`, `sentinel_kwargs`).
"""

import time
from collections.abc import Iterator
from threading import Lock
from typing import Any

import redis
from django.core.exceptions import ImproperlyConfigured
from redis import sentinel
from redis.connection import parse_url

from executions import messaging
from executions.vendor_seams.kombu_redis import sentinel_kwargs

PORT = 26379
KEPT_SECONDS = 10.0


def open_client(url: str, **options: Any) -> redis.Redis:
    """Return a client; if the address names Sentinels, the client follows the primary.

    Raises ImproperlyConfigured if Celery's options do not name the primary.
    """
    if not url.startswith(messaging.SENTINEL):
        return redis.Redis.from_url(url, **options)
    first, *_ = _servers(url)
    same = {name: first[name] for name in ("db", "username", "password") if name in first}
    found: redis.Redis = _sentinels(url).master_for(_primary_name(), **same | options)
    return found


def _sentinels(url: str) -> Any:
    found = [(one.get("host", "127.0.0.1"), one.get("port", PORT)) for one in _servers(url)]
    asked = sentinel_kwargs(messaging.sentinel_options().get("sentinel_kwargs"))
    return sentinel.Sentinel(found, sentinel_kwargs=asked)  # type: ignore[no-untyped-call]


def _servers(url: str) -> list[dict[str, Any]]:
    addresses = [one.removeprefix(messaging.SENTINEL) for one in url.split(";") if one]
    return [dict(parse_url(f"redis://{one}")) for one in addresses]  # type: ignore[no-untyped-call]


def _primary_name() -> str:
    name = messaging.sentinel_options().get("master_name")
    if not name:
        raise ImproperlyConfigured(
            "An address begins with sentinel://, but the name of the primary is missing. Set "
            "VALKYR_SENTINEL_MASTER; in your own Celery app, set master_name in "
            "broker_transport_options."
        )
    return str(name)


class _Found:
    """The servers that Sentinels named most recently."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: dict[str, tuple[float, list[str]]] = {}

    def of(self, url: str) -> list[str]:
        now = time.monotonic()
        with self._lock:
            at, known = self._known.get(url, (float("-inf"), []))
            if now - at > KEPT_SECONDS:
                try:
                    known = _behind(url)
                except (redis.RedisError, OSError):
                    if not known:
                        raise
                self._known[url] = (now, known)
        return known


_found = _Found()


def behind_sentinels() -> Iterator[str]:
    """Yield the addresses of the engine's Redis servers that its Sentinels name.

    If no Sentinel responds, yields the servers of the last response. Without an earlier response,
    raises redis.RedisError or OSError.
    """
    named = [one for one in messaging.own_addresses() if messaging.SENTINEL in one]
    for url in {one[one.index(messaging.SENTINEL) :] for one in named}:
        yield from _found.of(url)


def _behind(url: str) -> list[str]:
    database = _servers(url)[0].get("db", 0)
    asked, name = _sentinels(url), _primary_name()
    servers = [asked.discover_master(name), *asked.discover_slaves(name)]
    return [f"redis://{host}:{port}/{database}" for host, port in servers]
