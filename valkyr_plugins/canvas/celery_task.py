"""`celery.task`: a task of the project's Celery app as a step, unchanged.

A task's own retries decide: each is an attempt of the step, with the delay, arguments and count
that `self.retry` asked for. They reach the next attempt as the details of a heartbeat.
"""

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
from valkyr_plugins.canvas import tracing
from valkyr_plugins.canvas.conf import CanvasSettings

LONGEST_DELAY = 86_400.0
FINAL = "final"


class CeleryTaskInputs(ModuleInputs):  # type: ignore[no-redef] # of the plugin for __init__
    """The task and its arguments."""

    task: str = Field(description="The task's name in the Celery app.", examples=["shop.charge"])
    args: list[Any] = Field(default=[], description="Its positional arguments.")
    kwargs: dict[str, Any] = Field(default={}, description="Its arguments by name.")


class CeleryTaskOutputs(ModuleOutputs):
    """What the task returned."""

    result: Any = Field(description="The returned value; null for a task that raised Ignore.")


class CeleryTask(Module[CeleryTaskInputs]):
    """Runs a task of the project's Celery app, in the worker that has the step.

    The task is not changed: `self.request`, `self.retry`, `autoretry_for`, `max_retries`, its hooks
    and Celery's signals keep their meaning. Each retry is an attempt of the step. What the task
    raises for good becomes a dead letter, whose `args` and `kwargs` can be changed.
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
        Bad("a task that steps may not run", {"task": "shop.nothing"}, "is not among those"),
    )

    def execute(self, inputs: CeleryTaskInputs, ctx: StepContext) -> Result:
        """Run the task once."""
        _check_allowed(inputs.task)
        asked = _asked(ctx)
        if asked is not None:
            ctx.heartbeat(asked)  # a worker that dies now leaves them to the next attempt
        request = _request(inputs, ctx, asked or {})
        try:
            ended = tracing.run(celery_app(), inputs.task, request)
        except NotRegistered:
            raise StepError(
                f"The Celery app has no task {inputs.task!r}. Import its module in the worker "
                "(`autodiscover_tasks` or `imports`), or correct the name."
            ) from None
        except Reject as error:
            _rejected(inputs.task, error)
        return _result(inputs.task, ended, ctx)


def _check_allowed(task: str) -> None:
    """Raise StepError for a task that `CELERY_TASKS` does not name, and for a task of ours."""
    allowed = read(CanvasSettings).celery_tasks
    if is_ours(task) or not any(fnmatchcase(task, pattern) for pattern in allowed):
        raise StepError(
            f"The task {task!r} is not among those that steps may run "
            f"({', '.join(allowed) or 'none'}). Name it in VALKYR['CELERY_TASKS']."
        )


def _asked(ctx: StepContext) -> dict[str, Any] | None:
    """What the attempt before asked for, where it ended with a retry."""
    told = ctx.last_details
    return told if isinstance(told, dict) and FINAL not in told else None


def _request(inputs: CeleryTaskInputs, ctx: StepContext, asked: dict[str, Any]) -> dict[str, Any]:
    root = str(ctx.execution_id)
    return {
        "id": str(uuid5(NAMESPACE_URL, f"{root}/{ctx.step_path}")),
        "root_id": root,
        "parent_id": root,
        "task": inputs.task,
        "args": asked.get("args", inputs.args),
        "kwargs": asked.get("kwargs", inputs.kwargs),
        "retries": asked.get("retries", 0),
        "delivery_info": {"redelivered": ctx.attempt > 1 and not asked},
    }


def _result(task: str, ended: tracing.TaskEnding, ctx: StepContext) -> Result:
    if ended.state == states.SUCCESS:
        return Result({"result": ended.value})
    if ended.state == states.RETRY:
        _retry(task, ended, ctx)
    if isinstance(ended.value, Reject):
        _rejected(task, ended.value)
    if isinstance(ended.value, Ignore):
        return Result({"result": None})
    # Another attempt comes from a dead letter alone: it begins with the step's own arguments.
    ctx.heartbeat({FINAL: True})
    error = ended.value
    raise StepError(f"{type(error).__name__}: {error}", fingerprint=type(error).__name__) from error


def _retry(task: str, ended: tracing.TaskEnding, ctx: StepContext) -> NoReturn:
    if ended.seconds > LONGEST_DELAY:
        raise StepError(
            f"The task {task} asked for a retry in {ended.seconds:g} s; at most "
            f"{LONGEST_DELAY:g} s can be waited for. Use a shorter countdown."
        )
    ctx.heartbeat({"args": ended.args, "kwargs": ended.kwargs, "retries": ended.retries})
    raise StepError(
        f"The task {task} asked to be tried again: {type(ended.value).__name__}: {ended.value}",
        ErrorType.TRANSIENT,
        retry_after=ended.seconds,
    )


def _rejected(task: str, error: Any) -> NoReturn:
    kind = ErrorType.TRANSIENT if error.requeue else ErrorType.PERMANENT
    raise StepError(f"The task {task} rejected its message: {error.reason}", kind)
