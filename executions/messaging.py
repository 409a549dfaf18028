"""The Celery app that carries our tasks, the names of our queues in it, and its broker.

It is the app that `valkyr.configure_celery` was given, else Celery's current one. A queue has two
names: `io` in definitions and tables, `<QUEUE_PREFIX>io` at the broker. Queues in `CELERY_QUEUES`
are the app's own, and have one name.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from celery import Celery, current_app, shared_task
from django.apps import apps

from executions.configuration import settings

CONTROL = "control"
SERIALIZER = "json"
CHORD_COUNTER = "executions.vendor_seams.celery_results:ChordCounter"
REDIS = ("redis", "unix", "sentinel", "valkey")
# Each option of our tasks that could otherwise come from the app's settings, which are meant for
# its other tasks too. docs/explanation/celery.md gives the reasons. 0: no limit of our own.
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
    "time_limit": 800,  # the last resort: steps have timeouts of their own
    "soft_time_limit": 0,
}
_configured: Celery | None = None
_waiting: list[Callable[[], None]] = []
_ours: set[str] = set()


def task(name: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declare one of our tasks with the options that it needs, whatever app executes it.

    Senders name its queue, as `send` does: no route of the app is about our tasks.
    """
    _ours.add(name)
    return shared_task(name=name, **(OPTIONS | options))


def is_ours(task: str) -> bool:
    """Return whether a task of that name was declared here."""
    return task in _ours


def carry_by(app: Celery) -> None:
    """Send our tasks by this app from now on."""
    global _configured  # noqa: PLW0603 - one a process
    _configured = app


def when_ready(call: Callable[[], None]) -> None:
    """Call the function once Django has loaded all apps, or now if it has."""
    if apps.ready:
        call()
    else:
        _waiting.append(call)


def be_ready() -> None:
    """Note that Django has loaded all apps, and make the calls that waited for it."""
    while _waiting:
        _waiting.pop()()


def configured_app() -> Celery | None:
    """Return the app that was configured for our tasks, if one was."""
    return _configured


def celery_app() -> Celery:
    """Return the app that sends and executes our tasks."""
    return _configured or current_app


def send(task: str, args: Sequence[Any], queue: str, **options: Any) -> None:
    """Send one of our tasks by its name; `queue` is the name in definitions."""
    celery_app().send_task(
        task,
        args=args,
        queue=at_broker(queue),
        serializer=SERIALIZER,
        ignore_result=True,
        **options,
    )


def at_broker(queue: str) -> str:
    """Return the Celery queue for a queue's name in definitions."""
    known = settings()
    return queue if queue in known.celery_queues else known.queue_prefix + queue


def ours_among(names: Iterable[str]) -> list[str]:
    """Return the names in definitions of those Celery queues that steps may use."""
    known = settings()
    shared = set(names) & set(known.celery_queues)
    prefix = known.queue_prefix
    own = {name.removeprefix(prefix) for name in set(names) - shared if name.startswith(prefix)}
    return sorted(own | shared)


def shared_among(names: Iterable[str]) -> list[str]:
    """Return the queues of the app's own tasks that steps may use too."""
    return sorted(set(names) & set(settings().celery_queues))


def counts_chords() -> bool:
    """Return whether the app's result backend is our own, which counts chords without results."""
    return CHORD_COUNTER in str(celery_app().conf.result_backend)


def broker_url() -> str:
    """Return the address that messages are sent to; the first if there are several."""
    conf = celery_app().conf
    found: Any = conf.broker_write_url or conf.broker_url or "amqp://"
    return str(found if isinstance(found, str) else found[0]).split(";")[0]


def is_redis(url: str) -> bool:
    """Return whether a broker's address is a Redis."""
    return url.startswith(REDIS)


def broker_priority(priority: int) -> int:
    """Convert a priority between ours (9 is first, as in RabbitMQ) and Redis's (0 is first)."""
    return 9 - priority if is_redis(broker_url()) else priority


def own_addresses() -> list[str]:
    """Return the URLs of the app's broker and result backend, and of the Redis for counters."""
    conf = celery_app().conf
    found: list[Any] = [conf.broker_read_url, conf.broker_write_url, conf.result_backend]
    texts = [text for one in found for text in (one if isinstance(one, list | tuple) else [one])]
    return [str(text) for text in texts if text] + [redis_url()]


def redis_url() -> str:
    """Return the Redis in which web processes keep shared counters; "" if there is none."""
    if given := settings().redis_url:
        return given
    url = broker_url()
    return url if url.startswith(("redis://", "rediss://", "unix://")) else ""
