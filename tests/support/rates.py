"""Reset rates before each test, so that other tests' counts do not reject its requests."""

from functools import lru_cache

import redis
from django.conf import settings

from executions.admission import rates


def forget_rates() -> None:
    """Clear every count, in Redis and in this process."""
    rates.forget()
    store = _store(settings.REDIS_URL)
    found = list(store.scan_iter(f"{settings.VALKYR['KEY_PREFIX']}rate:*", count=1000))
    if found:
        store.delete(*found)


@lru_cache(maxsize=1)
def _store(url: str) -> redis.Redis:
    """Return one connection for all tests: opening one takes longer than its queries."""
    return redis.Redis.from_url(url)
