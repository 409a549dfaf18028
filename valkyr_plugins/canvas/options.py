"""The options of signatures and tasks: their effects on a durable step, and rejected options."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from executions.public.configuration import OWN_QUEUES, settings
from executions.public.messaging import broker_priority, celery_app

LONGEST_STEP = 600.0
LONGEST_WAIT = timedelta(days=365)
# Options without a meaning here: they concern Celery's own message, which a durable step does not
# have, or the ID of the result.
WITHOUT_MEANING = frozenset(
    {
        "add_to_parent", "chord_size", "compression", "connection", "delivery_mode", "group_id",
        "group_index", "immediate", "mandatory", "parent_id", "producer", "publisher", "reply_to",
        "retry", "retry_policy", "root_id", "serializer", "shadow", "stamped_headers", "task_id",
    }
)  # fmt: skip
READ = frozenset(
    {
        "countdown", "eta", "expires", "exchange", "ignore_result", "link", "link_error",
        "priority", "queue", "routing_key", "soft_time_limit", "time_limit",
    }
)  # fmt: skip
# Attributes of a task, which apply if the signature does not set the option.
OF_TASKS = (
    "queue", "routing_key", "exchange", "priority", "expires", "time_limit", "soft_time_limit",
    "ignore_result",
)  # fmt: skip


class UntranslatableError(ValueError):
    """A part of a signature has no durable form; the message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class SignatureOptions:
    """The options of one task, as a definition states them. Durations are in seconds.

    `queue` is empty for Celery's default queue; `priority` is the engine's, from 0 to 9.
    """

    queue: str = ""
    countdown: float | None = None
    eta: str | None = None
    expires: float | str | None = None
    priority: int | None = None
    time_limit: float | None = None
    soft_time_limit: float | None = None
    ignore_result: bool = False


def merged(own: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Merge a part's options with the surrounding part's options, which take precedence.

    The links and the error callbacks of both parts are kept.
    """
    found = {**own, **more}
    for key in ("link", "link_error"):
        if both := [*as_list(own.get(key)), *as_list(more.get(key))]:
            found[key] = both
    return found


def as_list(value: Any) -> list[Any]:
    """Return a list of signatures from one signature, several, or None."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def read_options(name: str, given: Mapping[str, Any]) -> SignatureOptions:
    """Return a task's options, completed with the task's defaults and routes.

    Raises UntranslatableError for options that a durable step cannot keep.
    """
    task = celery_app().tasks.get(name)
    own = {} if task is None else {key: getattr(task, key, None) for key in OF_TASKS}
    options = {k: v for k, v in {**own, **given}.items() if v is not None}
    _check_known(name, options)
    soft, hard = _limits(name, options)
    return SignatureOptions(
        queue=_queue(name, options, task),
        countdown=_countdown(name, options.get("countdown")),
        eta=_instant(name, "eta", options.get("eta")),
        expires=_expires(name, options.get("expires")),
        priority=_priority(name, options.get("priority")),
        time_limit=hard,
        soft_time_limit=soft,
        ignore_result=bool(options.get("ignore_result")),
    )


def _check_known(name: str, options: Mapping[str, Any]) -> None:
    unknown = sorted(set(options) - READ - WITHOUT_MEANING)
    if unknown:
        raise _refused(name, unknown[0], "omit it, or send this signature with apply_async")


def _queue(name: str, options: Mapping[str, Any], task: Any) -> str:
    """Return the queue that Celery would choose, under its name in definitions.

    The name is empty for the default queue. Raises UntranslatableError if steps cannot use the
    queue.
    """
    app = celery_app()
    asked = {k: options[k] for k in ("queue", "exchange", "routing_key") if k in options}
    chosen = app.amqp.router.route(asked, name, task_type=task)
    queue = getattr(chosen.get("queue"), "name", chosen.get("queue"))
    if "exchange" in asked or queue is None:
        raise _refused(name, "exchange", "name a queue, or let task_routes name one")
    if queue == app.conf.task_default_queue:
        return ""
    known = settings()
    if queue in known.celery_queues:
        return str(queue)
    ours = queue.removeprefix(known.queue_prefix)
    if queue.startswith(known.queue_prefix) and ours in OWN_QUEUES - {"control"}:
        return str(ours)
    raise UntranslatableError(
        f"The task {name} goes to the queue {queue!r}, which steps cannot use. Add it to "
        "VALKYR['CELERY_QUEUES'], for the processes that start executions and for the workers of "
        "that queue."
    )


def _limits(name: str, options: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Return the soft and the hard time limit in seconds. Raises UntranslatableError.

    The app's hard limit is reduced to a step's maximum. A soft limit that is not shorter than the
    hard limit is omitted.
    """
    soft, hard = options.get("soft_time_limit"), options.get("time_limit")
    for key, value in (("soft_time_limit", soft), ("time_limit", hard)):
        if value is not None and not 0 < value <= LONGEST_STEP:
            raise _refused(
                name,
                key,
                f"is {value:g} s, but a step takes at most {LONGEST_STEP:g} s",
            )
    conf = celery_app().conf
    soft = conf.task_soft_time_limit if soft is None else soft
    hard = conf.task_time_limit if hard is None else hard
    if hard is not None:
        hard = min(float(hard), LONGEST_STEP)
    if soft is not None and soft >= (hard or LONGEST_STEP):
        soft = None
    return soft, hard


def _countdown(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if not 0 <= value <= LONGEST_WAIT.total_seconds():
        raise _refused(name, "countdown", f"is {value}; expected 0 to {LONGEST_WAIT.days} days")
    return float(value)


def _expires(name: str, value: Any) -> float | str | None:
    if isinstance(value, int | float):
        return float(value)
    return _instant(name, "expires", value)


def _instant(name: str, key: str, value: Any) -> str | None:
    """Return an instant as ISO 8601 text; without an offset, it is in the app's time zone.

    None stays None. Raises UntranslatableError.
    """
    if value is None:
        return None
    if isinstance(value, str):
        with suppress(ValueError):
            value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        raise _refused(name, key, f"is {value!r}; expected a datetime")
    zoned = value if value.tzinfo else value.replace(tzinfo=celery_app().timezone)
    if zoned - datetime.now(UTC) > LONGEST_WAIT:
        raise _refused(name, key, f"is {zoned}; at most {LONGEST_WAIT.days} days ahead")
    return zoned.isoformat()


def _priority(name: str, value: Any) -> int | None:
    """Convert Celery's priority to the engine's; None stays None. Raises UntranslatableError."""
    if value is None:
        return None
    if not 0 <= value <= 9:
        raise _refused(name, "priority", f"is {value}; a step's is from 0 to 9")
    return broker_priority(int(value))


def _refused(name: str, key: str, why: str) -> UntranslatableError:
    return UntranslatableError(
        f"The signature {name} has the option {key!r}, which a durable canvas does not "
        f"support: {why}."
    )
