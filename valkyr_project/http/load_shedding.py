"""Limit the concurrent requests; reject those that wait too long with a 503 and Retry-After.

Pages of the admin and the studio, health checks and `urgent` endpoints are never rejected.
"""

import random
from functools import cache
from typing import Any

from django.conf import settings
from django.core.handlers.asgi import get_script_prefix
from django.urls import Resolver404, resolve

from executions.observability.metric_values import Counter
from valkyr_project.http.asgi_middleware import Send, refuse
from valkyr_project.http.places import Overloaded, Places, RequestPlace

# Number of the process's database connections that are reserved for urgent requests and pages.
KEPT_CONNECTIONS = 2
# Seconds after which a rejected client may retry, at random so that they do not all return at once.
EARLIEST, LATEST = 1, 5

SHED = Counter(
    "valkyr_http_requests_shed_total",
    "Requests answered with 503 because the process had too many.",
)


@cache
def places() -> Places:
    """Return this process's slots: one per database connection, except the reserved ones."""
    pool = settings.DATABASES["default"].get("OPTIONS", {}).get("pool") or {}
    return Places(max(1, int(pool.get("max_size", 10)) - KEPT_CONNECTIONS))


async def place_for(scope: Any) -> RequestPlace | None:
    """Return a slot, after a wait if necessary; None if no slot is free and the request needs none.

    Raises Overloaded if no slot becomes free in time.
    """
    place = places().take_free()
    if place is not None or not waits(scope):
        return place  # the route is looked up only if it matters
    try:
        return await places().wait()
    except Overloaded:
        SHED.inc()
        raise


def waits(scope: Any) -> bool:
    """Return whether the request must wait for a slot: an API request that is not `urgent`."""
    prefix = get_script_prefix(scope).rstrip("/")
    try:
        match = resolve("/" + scope["path"].removeprefix(prefix).lstrip("/"))
    except Resolver404:
        return False  # metrics, which middleware answers, or an unknown path, which costs little
    return getattr(getattr(match.func, "cls", None), "urgent", None) is False


async def shed(send: Send) -> None:
    """Send the response for a request that got no slot."""
    seconds = random.randint(EARLIEST, LATEST)  # noqa: S311 - no secret
    detail = (
        "This server has too many requests. Nothing was changed. Send the request again in "
        f"{seconds} s."
    )
    again = (b"retry-after", str(seconds).encode())
    await refuse(send, 503, "Service Unavailable", "overloaded", detail, again)
