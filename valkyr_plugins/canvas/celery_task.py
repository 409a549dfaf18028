"""`celery.task`: run a task of the project's Celery app as a step, without changing the task.

The task's own retry settings apply. Each retry is an attempt of the step, with the delay, arguments
and count that `self.retry` requested. The next attempt receives these values as the details of a
heartbeat.
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any, NoReturn
from uuid import NAMESPACE_URL, uuid5

from celery import states
from celery.exceptions import Ignore, NotRegistered, Reject
from pydantic import Field

from executions.public.configuration import read
from executions.public.messaging import celery_app, is_ours
from runners.public.modules import (
    Bad,
    ErrorType,
    Module,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
)
from valkyr_plugins.canvas import expiry, tracing
from valkyr_plugins.canvas.conf import ORIGIN, CanvasSettings
from valkyr_plugins.canvas.errbacks import Errback, call_later, inline
from valkyr_plugins.canvas.values import NoJsonError, packed, unpacked

LONGEST_DELAY = 86_400.0
FINAL = "final"


class CeleryTaskInputs(ModuleInputs):  # type: ignore[no-redef] # from pydantic's mypy plugin
    """The task and its arguments."""

    task: str = Field(description="The task's name in the Celery app.", examples=["shop.charge"])
    args: list[Any] = Field(default=[], description="The task's positional arguments.")
    kwargs: dict[str, Any] = Field(default={}, description="The task's keyword arguments.")
    id: str = Field(
        default="",
        max_length=200,
        description="The task's id; by default, it is derived from the execution and the step.",
    )
    expires: float | str | None = Field(
        default=None,
        description=(
            "The latest start: a number of seconds after the step is ready, or a time in ISO 8601. "
            "A step that has not started by then fails."
        ),
        examples=[3600],
    )
    soft_time_limit: float | None = Field(
        default=None,
        gt=0,
        description="Seconds after which SoftTimeLimitExceeded is raised in the task.",
        examples=[30],
    )
    errbacks: list[Errback] = Field(
        default=[], description="Tasks to call if the task fails permanently, as with `link_error`."
    )


class CeleryTaskOutputs(ModuleOutputs):
    """The task's return value."""

    result: Any = Field(description="The return value; null if the task raised Ignore.")


class CeleryTask(Module[CeleryTaskInputs]):
    """Runs a task of the project's Celery app in the worker that executes the step.

    The task needs no changes: `self.request`, `self.retry`, `autoretry_for`, `max_retries`, the
    task's hooks and Celery's signals work as usual. Each retry is an attempt of the step, so the
    step's `retry` must allow as many attempts as the task needs. If the task fails permanently, you
    can requeue the dead letter with other `args` and `kwargs`. Steps that users write can run only
    the tasks in the setting `CELERY_TASKS`.
    """

    type = "celery.task"
    title = "Celery task"
    category = "code"
    Inputs = CeleryTaskInputs
    Outputs = CeleryTaskOutputs
    effect = "external"
    timeout_seconds = 600.0
    example = {"task": "shop.charge", "args": [7], "kwargs": {"currency": "EUR"}}
    bad_inputs = (
        Bad(
            "a task that steps may not run", {"task": "shop.nothing"}, "Steps may not run the task"
        ),
    )

    def execute(self, inputs: CeleryTaskInputs, ctx: StepContext) -> Result:
        """Run the task once, as one attempt of the step. Raises StepError."""
        _check_allowed([inputs.task, *(one.task for one in inputs.errbacks)], ctx)
        _check_expiry(inputs, ctx)
        asked = _asked(ctx)
        if asked is not None:
            ctx.heartbeat(asked)  # keep the request for the next attempt, in case the worker dies
        request = _request(inputs, ctx, asked or {})
        try:
            ended = tracing.run(celery_app(), inputs.task, request, inputs.soft_time_limit)
        except NotRegistered:
            raise StepError(
                f"The Celery app has no task {inputs.task!r}. Import its module in the worker "
                "(`autodiscover_tasks` or `imports`), or correct the name."
            ) from None
        except Reject as error:
            _rejected(inputs.task, error)
        return _result(inputs, request["id"], ended, ctx)


def _check_allowed(tasks: Iterable[str], ctx: StepContext) -> None:
    """Raise StepError for Valkyr's own tasks, and for others that this step may not run.

    A project's code is trusted: its `durable(...)` calls run any task of the app, unless a user
    changed the step's task or error callbacks. Other steps run only the tasks in `CELERY_TASKS`.
    """
    trusted = ctx.origin == ORIGIN and ctx.changed.isdisjoint({"task", "errbacks"})
    allowed = ("*",) if trusted else read(CanvasSettings).celery_tasks
    for task in tasks:
        if is_ours(task):
            raise StepError(
                f"{task!r} is one of Valkyr's own tasks, which steps may never run. Name another "
                "task."
            )
        if not any(fnmatchcase(task, pattern) for pattern in allowed):
            raise StepError(
                f"Steps may not run the task {task!r}, only {', '.join(allowed) or 'none'}. "
                "Name it in VALKYR['CELERY_TASKS']."
            )


def _check_expiry(inputs: CeleryTaskInputs, ctx: StepContext) -> None:
    """Raise StepError if the task has expired, except in a retry that the task did not request."""
    if inputs.expires is None or (ctx.attempt > 1 and _asked(ctx) is None):
        return
    if expiry.is_past(inputs.expires, ctx.execution_id, ctx.step_path):
        ctx.heartbeat({FINAL: True})
        raise StepError(
            f"The task {inputs.task} did not start before it expired ({inputs.expires}). "
            "Retry the step to run it now.",
            details={"exc_type": "TaskRevokedError", "exc_module": "celery.exceptions",
                     "exc_message": ["expired"]},
            fingerprint="expired",
        )  # fmt: skip


def _asked(ctx: StepContext) -> dict[str, Any] | None:
    """Return the retry that the previous attempt requested; None if it requested none."""
    told = ctx.last_details
    return told if isinstance(told, dict) and FINAL not in told else None


def _request(inputs: CeleryTaskInputs, ctx: StepContext, asked: dict[str, Any]) -> dict[str, Any]:
    root = str(ctx.execution_id)
    return {
        "id": inputs.id or str(uuid5(NAMESPACE_URL, f"{root}/{ctx.step_path}")),
        "root_id": root,
        "parent_id": root,
        "task": inputs.task,
        "args": unpacked(asked.get("args", inputs.args)),
        "kwargs": unpacked(asked.get("kwargs", inputs.kwargs)),
        "retries": asked.get("retries", 0),
        "delivery_info": {"redelivered": ctx.attempt > 1 and not asked},
        "errbacks": [one.signature(celery_app()) for one in inputs.errbacks if inline(one)],
        "timelimit": (None, inputs.soft_time_limit),
    }


def _result(
    inputs: CeleryTaskInputs, task_id: str, ended: tracing.TaskEnding, ctx: StepContext
) -> Result:
    if ended.state == states.SUCCESS:
        return Result({"result": _packed(inputs.task, "returned", ended.value)})
    if ended.state == states.RETRY:
        _retry(inputs.task, ended, ctx)
    if isinstance(ended.value, Reject):
        _rejected(inputs.task, ended.value)
    if isinstance(ended.value, tracing.CanvasChangedError):
        ctx.heartbeat({FINAL: True})
        raise StepError(str(ended.value), fingerprint=ended.value.method)
    if isinstance(ended.value, Ignore):
        return Result({"result": None})
    # Only a requeued dead letter makes another attempt, which uses the step's own arguments.
    ctx.heartbeat({FINAL: True})
    call_later(inputs.errbacks, task_id, ctx)
    error = ended.value
    raise StepError(
        f"{type(error).__name__}: {error}",
        fingerprint=type(error).__name__,
        details=celery_app().backend.prepare_exception(error, serializer="json"),
    ) from error


def _retry(task: str, ended: tracing.TaskEnding, ctx: StepContext) -> NoReturn:
    if ended.seconds > LONGEST_DELAY:
        raise StepError(
            f"The task {task} requested a retry in {ended.seconds:g} s; the maximum is "
            f"{LONGEST_DELAY:g} s. Use a shorter countdown."
        )
    told = {"args": ended.args, "kwargs": ended.kwargs}
    ctx.heartbeat(_packed(task, "retried with", told) | {"retries": ended.retries})
    raise StepError(
        f"The task {task} requested a retry: {type(ended.value).__name__}: {ended.value}",
        ErrorType.TRANSIENT,
        retry_after=ended.seconds,
    )


def _rejected(task: str, error: Any) -> NoReturn:
    kind = ErrorType.TRANSIENT if error.requeue else ErrorType.PERMANENT
    raise StepError(f"The task {task} rejected its message: {error.reason}", kind)


def _packed(task: str, what: str, value: Any) -> Any:
    try:
        return packed(value)
    except NoJsonError as error:
        raise StepError(
            f"The task {task} {what} a value that is not JSON: {error}. Use numbers, texts, "
            "dates, lists and mappings of them."
        ) from None
