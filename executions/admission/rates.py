"""Rates per minute, counted in Redis for all processes together.

A minute begins with its first count. Without Redis, `strict` rates, such as sign-ins, are counted
in the database, and each process counts the others separately. Each process tries Redis again every
few seconds. An outage of Redis does not cause rejections. Once a process knows that a limit is
exceeded, it rejects requests without using Redis.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from ipaddress import ip_address, ip_network
from math import ceil
from threading import Lock
from time import monotonic
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from executions.configuration import settings as valkyr_settings
from executions.database import statements, transaction
from executions.database.clock import database_now
from executions.messaging import redis_url
from executions.models import RateCount
from executions.redis_client import open_client

log = logging.getLogger(__name__)
SECONDS = 60
# Redis usually answers in far less than this timeout, in seconds. After a timeout, requests skip
# Redis for REST_SECONDS.
TIMEOUT_SECONDS = 0.25
REST_SECONDS = 5.0
MOST_REMEMBERED = 20_000
PRUNED_AT_ONCE = 5_000
SIGN_INS_BY_ADDRESS, SIGN_INS_BY_NAME = 60, 20

_COUNT = """
local found = {}
for i, key in ipairs(KEYS) do
  local count = redis.call('INCR', key)
  local left = redis.call('PTTL', key)
  if left < 0 then
    redis.call('PEXPIRE', key, ARGV[1])
    left = tonumber(ARGV[1])
  end
  found[2 * i - 1], found[2 * i] = count, left
end
return found
"""


@dataclass(frozen=True, slots=True)
class Rate:
    """A limit of `most` events per minute; 0 means no limit.

    `what` is for messages ("sign-ins from your address"), and `whom` distinguishes counters. A
    `strict` rate applies to all processes together even without Redis.
    """

    what: str
    whom: str
    most: int
    strict: bool = False

    @property
    def key(self) -> str:
        """Return the counter's name: a digest, which shows neither user names nor addresses."""
        return sha256(f"{self.what}\n{self.whom}".encode(errors="replace")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Excess:
    """An exceeded rate, and the seconds until its minute ends."""

    rate: Rate
    seconds: float

    @property
    def whole_seconds(self) -> int:
        """Return the remaining wait in whole seconds, at least 1."""
        return max(1, ceil(self.seconds))

    def __str__(self) -> str:
        return (
            f"More than {self.rate.most:,} {self.rate.what} in a minute. "
            f"Try again in {self.whole_seconds} s."
        )


def count(rates: Sequence[Rate]) -> Excess | None:
    """Count one event for each rate; return the exceeded rate with the longest wait, if any.

    Counts nothing if an excess is already known. Uses at most one round trip to Redis.
    """
    limited = [rate for rate in rates if rate.most > 0]
    known = [excess for rate in limited if (excess := exceeded(rate))]
    if not limited or known:
        return max(known, key=lambda excess: excess.seconds, default=None)
    found = _in_redis([rate.key for rate in limited]) or _without_redis(limited)
    over = [
        Excess(rate, left)
        for rate, (number, left) in zip(limited, found, strict=True)
        if number > rate.most
    ]
    for excess in over:
        _memory.set(f"over {excess.rate.key}", excess.seconds)
    return max(over, key=lambda excess: excess.seconds, default=None)


def exceeded(rate: Rate) -> Excess | None:
    """Return the excess that this process has recorded for a rate, if any; count nothing."""
    left = _memory.left(f"over {rate.key}") if rate.most > 0 else 0.0
    return Excess(rate, left) if left > 0 else None


def of_sign_in(address: str, name: str | None) -> list[Rate]:
    """Return a sign-in attempt's rates: one for its address and, if given, one for its name."""
    whom = network_of(address)
    found = [Rate("sign-ins from your address", whom, SIGN_INS_BY_ADDRESS, strict=True)]
    if name is not None:
        # Names that differ only in case or surrounding spaces count as one name.
        text = name.strip().casefold()[:150]
        found.append(Rate("sign-ins with this name", text, SIGN_INS_BY_NAME, strict=True))
    return found


def network_of(address: str) -> str:
    """Return the /64 network of an IPv6 address, or the mapped IPv4 address; keep other text."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return str(found)
    mapped = found.ipv4_mapped
    return str(mapped or ip_network((found, 64), strict=False))


def prune() -> int:
    """Delete expired counters in the database, at most 5,000; return the number deleted."""
    over = RateCount.objects.filter(ends_at__lt=database_now())
    with transaction.atomic():
        rows = over.select_for_update(skip_locked=True).order_by("ends_at")
        keys = list(rows.values_list("pk", flat=True)[:PRUNED_AT_ONCE])
        return RateCount.objects.filter(pk__in=keys).delete()[0]


def forget() -> None:
    """Clear the counts of this process, and its record of an outage of Redis."""
    _memory.clear()
    _absence.over()


class _Memory:
    """The counts and excesses of this process, limited in number; each is kept for its minute."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: dict[str, tuple[int, float]] = {}

    def count(self, name: str) -> tuple[int, float]:
        """Increment a name's counter; return its count and the remaining seconds of its minute."""
        now = monotonic()
        with self._lock:
            number, until = self._found.get(name, (0, 0.0))
            if until <= now:
                number, until = 0, now + SECONDS
            self._put(name, number + 1, until)
        return number + 1, until - now

    def set(self, name: str, seconds: float) -> None:
        """Remember a name for the given number of seconds."""
        with self._lock:
            self._put(name, 1, monotonic() + seconds)

    def left(self, name: str) -> float:
        """Return for how many seconds the name is still remembered; 0 or less if it is not."""
        _, until = self._found.get(name, (0, 0.0))
        return until - monotonic()

    def clear(self) -> None:
        with self._lock:
            self._found.clear()

    def _put(self, name: str, number: int, until: float) -> None:
        if name not in self._found and len(self._found) >= MOST_REMEMBERED:
            now = monotonic()
            self._found = {key: row for key, row in self._found.items() if row[1] > now}
            while len(self._found) >= MOST_REMEMBERED:
                del self._found[next(iter(self._found))]
        self._found[name] = (number, until)


class _Absence:
    """A recent outage of Redis, whose start and end are logged."""

    def __init__(self) -> None:
        self._until: float | None = None

    def lasts(self) -> bool:
        return self._until is not None and monotonic() < self._until

    def noticed(self, error: Exception) -> None:
        if self._until is None:
            log.warning(
                "Redis does not answer (%s); sign-ins are counted in the database, "
                "other requests by each process",
                error,
            )
        self._until = monotonic() + REST_SECONDS

    def over(self) -> None:
        if self._until is not None:
            log.warning("Redis answers again; rates are counted for all processes together")
        self._until = None


_memory = _Memory()
_absence = _Absence()


def _in_redis(keys: list[str]) -> list[tuple[int, float]] | None:
    """Increment each key's counter; return counts and remaining seconds; None without Redis."""
    if not redis_url() or _absence.lasts():
        return None
    names = [f"{valkyr_settings().key_prefix}rate:{key}" for key in keys]
    try:
        found = _script()(keys=names, args=[SECONDS * 1000])
    except (redis.RedisError, OSError) as error:
        _absence.noticed(error)
        return None
    _absence.over()
    return [(found[i], found[i + 1] / 1000) for i in range(0, len(found), 2)]


def _without_redis(limited: Sequence[Rate]) -> list[tuple[int, float]]:
    """Count one event for each rate; return each rate's count and remaining seconds.

    Strict rates are counted in the database, other rates in this process.
    """
    keys = [rate.key for rate in limited if rate.strict]
    rows = statements.fetch("count_rates", {"keys": keys, "seconds": SECONDS}) if keys else []
    found = {key: (used, left) for key, used, left in rows}
    return [found.get(rate.key) or _memory.count(f"count {rate.key}") for rate in limited]


@lru_cache(maxsize=1)
def _script() -> Any:
    client = open_client(
        redis_url(),
        socket_timeout=TIMEOUT_SECONDS,
        socket_connect_timeout=TIMEOUT_SECONDS,
        # Retry after a lost connection, but not after a timeout.
        retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
    )
    return client.register_script(_COUNT)
