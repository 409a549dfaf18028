"""Rates begin anew for each test: what others counted must not refuse this one."""

import redis
from django.conf import settings

from executions import rates


def forget_rates() -> None:
    """Forget every count, in Redis and in this process."""
    rates.forget()
    with redis.Redis.from_url(settings.REDIS_URL) as store:
        found = list(store.scan_iter(f"{settings.VALKYR_KEY_PREFIX}rate:*", count=1000))
        if found:
            store.delete(*found)
