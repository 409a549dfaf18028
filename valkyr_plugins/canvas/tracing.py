"""Execute a Celery task as a worker would, and report its end.

Only this file relies on Celery's tracer. `tests/plugins/canvas/test_tracing.py` pins the behaviour
on which the file relies: request fields, hooks, signals, and `Retry.sig` of an eager request. A
request is marked eager so that `self.retry` raises and sends no message: the engine itself retries
the step.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any

from celery import Celery, states
from celery.app.trace import build_tracer
from celery.exceptions import Ignore

from valkyr_plugins.canvas.time_limits import soft_time_limit

DURABLE = "valkyr"  # the field of the request that tells a task that it runs as a step
CHANGES_CANVAS = ("replace", "add_to_chord")


class CanvasChangedError(Ignore):
    """A durable task tried to change its own canvas.

    The error is a subclass of Ignore, so that `autoretry_for` does not retry the task.
    """

    def __init__(self, task: str, method: str) -> None:
        super().__init__(
            f"The task {task} called self.{method}(), which changes its canvas while it runs; "
            "a durable canvas keeps its shape. Return the value and let a later task of the "
            "canvas continue, or start another canvas with durable(...)."
        )
        self.method = method


@dataclass(frozen=True, slots=True)
class TaskEnding:
    """The end of a task: Celery's state, and the returned value or the exception.

    For RETRY, `args`, `kwargs`, `retries` and `seconds` (the delay) apply to the next attempt.
    """

    state: str
    value: Any
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    retries: int = 0
    seconds: float = 0.0


def run(
    app: Celery, name: str, request: Mapping[str, Any], soft_limit: float | None = None
) -> TaskEnding:
    """Run the task with this name.

    `request` holds `id`, `args`, `kwargs` and other known fields of a request. Raises
    celery.exceptions.NotRegistered if the app has no such task.
    """
    task = app.tasks[name]
    _keep_canvas(task)
    tracer = build_tracer(name, task, loader=app.loader, eager=True, app=app)
    given = {**request, "is_eager": True, DURABLE: True}
    with soft_time_limit(soft_limit):
        value, info, _, _ = tracer(
            request["id"], list(request["args"]), dict(request["kwargs"]), given
        )
    if info is None:
        return TaskEnding(states.SUCCESS, value)
    if info.state == states.RETRY:
        return _retried(info.retval)
    return TaskEnding(info.state, info.retval)


def _keep_canvas(task: Any) -> None:
    """Make the methods that change a canvas fail in steps, but in no other run of the task."""
    for method in CHANGES_CANVAS:
        if method not in vars(task):
            setattr(task, method, partial(_guarded, task, method, getattr(task, method)))


def _guarded(
    task: Any, method: str, original: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    if task.request.get(DURABLE):
        raise CanvasChangedError(task.name, method)
    return original(*args, **kwargs)


def _retried(retry: Any) -> TaskEnding:
    signature = retry.sig
    return TaskEnding(
        states.RETRY,
        retry.exc or retry,
        args=list(signature.args),
        kwargs=dict(signature.kwargs),
        retries=signature.options.get("retries", 1),
        seconds=_seconds(retry.when),
    )


def _seconds(when: Any) -> float:
    """Return a countdown in seconds (0 for None), or the seconds from now to an instant."""
    if not isinstance(when, datetime):
        return float(when or 0)
    instant = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (instant - datetime.now(UTC)).total_seconds())
