"""The Celery app that sends and executes Valkyr's tasks, its queue names, and its broker.

The app is the one that was passed to `valkyr.configure_celery`, or otherwise Celery's current app.
A queue has two names: in definitions and tables `io`, and at the broker `<QUEUE_PREFIX>io` or, in
the cell `b`, `<QUEUE_PREFIX>b:io`, so that no worker receives messages of another cell. Queues in
`CELERY_QUEUES` are the app's own, without QUEUE_PREFIX: `images`, or `b:images` for steps of the
cell `b`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from celery import Celery, current_app, shared_task
from django.apps import apps
from kombu.exceptions import OperationalError

from executions.configuration import settings
from executions.database import routing

CONTROL = "control"
# Separates the cell's name from the queue's name; definitions cannot use it.
OF_CELL = ":"
SERIALIZER = "json"
CHORD_COUNTERS = "executions.vendor_seams.celery_results:"
REDIS = ("redis", "unix", "sentinel", "valkey")
SENTINEL = "sentinel://"
# All options of our tasks that would otherwise come from the app's settings, which also apply to
# the app's other tasks. docs/explanation/celery.md gives the reasons. 0 means no limit.
OPTIONS: dict[str, Any] = {
    "acks_late": True,
    "acks_on_failure": True,
    "acks_on_timeout": True,
    "reject_on_worker_lost": True,
    "retry_on_worker_lost": False,
    "ignore_result": True,
    "store_errors_even_if_ignored": False,
    "track_started": False,
    "serializer": SERIALIZER,
    "rate_limit": 0,
    "time_limit": 800,  # the last resort, because steps have their own timeouts
    "soft_time_limit": 0,
}
# After a send that failed after more than SLOW_SECONDS, other sends fail at once for REST_SECONDS,
# so that not every request waits as long.
SLOW_SECONDS, REST_SECONDS = 1.0, 5.0
_configured: Celery | None = None
_slow_until = float("-inf")
_waiting: list[Callable[[], None]] = []
_ours: set[str] = set()


def task(name: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declare one of Valkyr's tasks with the options that it needs, for any app that executes it.

    Senders name its queue, as `send` does: the app has no routes for Valkyr's tasks.
    """
    _ours.add(name)
    return shared_task(name=name, **(OPTIONS | options))


def is_ours(task: str) -> bool:
    """Return whether a task with the given name was declared by `task`."""
    return task in _ours


def carry_by(app: Celery) -> None:
    """Use this app from now on to send Valkyr's tasks."""
    global _configured  # noqa: PLW0603 - one a process
    _configured = app


def when_ready(call: Callable[[], None]) -> None:
    """Call the function once Django has loaded all apps; immediately if they are loaded."""
    if apps.ready:
        call()
    else:
        _waiting.append(call)


def be_ready() -> None:
    """Call the functions that waited until Django had loaded all apps."""
    while _waiting:
        _waiting.pop()()


def configured_app() -> Celery | None:
    """Return the app that was configured for Valkyr's tasks; None if there is none."""
    return _configured


def celery_app() -> Celery:
    """Return the app that sends and executes Valkyr's tasks."""
    return _configured or current_app


def send(task: str, args: Sequence[Any], queue: str, **options: Any) -> None:
    """Send one of Valkyr's tasks to `queue`, named as in definitions. Raises OperationalError."""
    with sending():
        celery_app().send_task(
            task,
            args=args,
            queue=at_broker(queue),
            serializer=SERIALIZER,
            ignore_result=True,
            **options,
        )


@contextmanager
def sending() -> Iterator[None]:
    """Wrap code that sends messages, so that a slow broker does not delay every sender.

    Raises OperationalError if a send failed slowly within the last `REST_SECONDS`.
    """
    global _slow_until  # noqa: PLW0603 - one broker a process
    begun = monotonic()
    if begun < _slow_until:
        raise OperationalError(
            "the broker did not answer in time; the next attempt is in a few seconds"
        )
    try:
        yield
    except Exception:
        if monotonic() - begun > SLOW_SECONDS:
            _slow_until = monotonic() + REST_SECONDS
        raise


def at_broker(queue: str) -> str:
    """Return the name of this cell's Celery queue for a queue as named in definitions."""
    known, cell = settings(), routing.cell()
    prefix = "" if queue in known.celery_queues else known.queue_prefix
    return f"{prefix}{cell}{OF_CELL}{queue}" if cell else prefix + queue


def _parsed(name: str) -> tuple[str, str] | None:
    """Return a Celery queue's cell and its name in definitions; None if steps never use the queue.

    The cell of the first database is "".
    """
    known = settings()
    if name in known.celery_queues:
        return "", name
    cell, mark, queue = name.partition(OF_CELL)
    if mark and cell in known.cells and queue in known.celery_queues:
        return cell, queue
    if not name.startswith(known.queue_prefix):
        return None
    own = name.removeprefix(known.queue_prefix)
    cell, mark, queue = own.partition(OF_CELL)
    return (cell, queue) if known.cells and mark else ("", own)


def ours_among(names: Iterable[str]) -> list[str]:
    """Return the queues among `names` that steps of this cell may use, named as in definitions."""
    cell = routing.cell()
    found = (_parsed(name) for name in set(names))
    return sorted({one[1] for one in found if one and one[0] == cell})


def of_other_cells(names: Iterable[str]) -> list[str]:
    """Return the Celery queues among `names` that belong to other cells; [] without cells."""
    if not settings().cells:
        return []
    cell = routing.cell()
    found = ((name, _parsed(name)) for name in set(names))
    return sorted(name for name, one in found if one and one[0] != cell)


def shared_among(names: Iterable[str]) -> list[str]:
    """Return the app's own queues among `names`, which steps of the first database may also use."""
    return sorted(set(names) & set(settings().celery_queues))


def counts_chords() -> bool:
    """Return whether the result backend is Valkyr's, which counts chords without subscriptions."""
    return CHORD_COUNTERS in str(celery_app().conf.result_backend)


def broker_url() -> str:
    """Return the broker's address; several servers are separated by `;`."""
    conf = celery_app().conf
    found: Any = conf.broker_write_url or conf.broker_url or "amqp://"
    return found if isinstance(found, str) else ";".join(found)


def is_redis(url: str) -> bool:
    """Return whether a broker's address names a Redis or Valkey server, or Sentinels."""
    return url.startswith(REDIS)


def broker_priority(priority: int) -> int:
    """Return the broker's number for a priority (9 is first); in Redis, 0 is first."""
    return 9 - priority if is_redis(broker_url()) else priority


def own_addresses() -> list[str]:
    """Return the URLs of the app's broker and result backend, and of the web processes' Redis."""
    conf = celery_app().conf
    found: list[Any] = [conf.broker_read_url, conf.broker_write_url, conf.result_backend]
    texts = [text for one in found for text in (one if isinstance(one, list | tuple) else [one])]
    return [str(text) for text in texts if text] + [redis_url()]


def redis_url() -> str:
    """Return the URL of the Redis that web processes share; "" if there is none."""
    if given := settings().redis_url:
        return given
    url = broker_url()
    return url if url.startswith(("redis://", "rediss://", "unix://", SENTINEL)) else ""


def sentinel_options() -> dict[str, Any]:
    """Return Celery's options for Sentinels: `master_name` and `sentinel_kwargs`."""
    conf = celery_app().conf
    given = (conf.result_backend_transport_options or {}) | (conf.broker_transport_options or {})
    return {name: given[name] for name in ("master_name", "sentinel_kwargs") if given.get(name)}
