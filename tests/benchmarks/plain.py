"""Plain Celery: what a reader of its manual would write for the same shapes.

The settings favour it: canvas ignores results where it can, and there are no events and no logs.
Acknowledgement (early, or late if the worker's environment says so) and prefetch (4) are Celery's
defaults. Nothing here is durable.
"""

import os
import time
from functools import cache
from typing import Any

import httpx
import redis
from celery import Celery, chain, group

URL = os.environ["BENCH_PLAIN_REDIS_URL"]
LATE = "BENCH_PLAIN_LATE"
FINISHED = "bench:finished"
ARRIVED = "bench:arrived"

# Not the current app: in the publishing process that is the engine's.
app = Celery("plain", broker=URL, backend=URL, set_as_current=False)
app.conf.update(
    task_ignore_result=True,
    task_serializer="json",
    broker_connection_retry_on_startup=True,
    worker_hijack_root_logger=False,
    task_default_queue="plain-prefork",
    task_acks_late=LATE in os.environ,
)


@cache
def store() -> "redis.Redis":
    """Return this process's client for counting finished graphs."""
    return redis.Redis.from_url(URL, socket_timeout=60)


@cache
def http() -> httpx.Client:
    """Return this process's client for calls."""
    return httpx.Client(timeout=30, limits=httpx.Limits(max_connections=None))


@app.task
def step(value: Any = None) -> Any:
    """Do nothing and return the value."""
    return value


@app.task
def last(value: Any = None) -> None:
    """Do nothing, and count the finished graph for the publisher."""
    store().incr(FINISHED)


@app.task
def clock() -> None:
    """Record when the first line ran."""
    store().rpush(ARRIVED, time.time())


# Its connection pool, shared by 256 threads, sometimes closes an expired one as it is taken.
@app.task(autoretry_for=(httpx.TransportError,), default_retry_delay=1)
def call(url: str) -> None:
    """Make one HTTP call, and count it."""
    http().get(url).raise_for_status()
    store().incr(FINISHED)


def chained(number: int, length: int) -> Any:
    """Return `length` tasks in a chain; each gets the result of the one before."""
    return chain(step.s(number), *[step.s() for _ in range(length - 2)], last.s())


def fanned(number: int, width: int) -> Any:
    """Return a chord: one task, `width` parallel tasks, and one that gets their results."""
    return chain(step.s(number), group([step.s() for _ in range(width)]), last.s())
