"""`django.task`: a registered task of Django's Tasks framework as a step."""

from typing import Any

from django.utils.module_loading import import_string
from pydantic import Field

from runners.public.modules import (
    Bad,
    ErrorType,
    Module,
    ModuleInputs,
    ModuleOutputs,
    Result,
    StepContext,
    StepError,
    error_type_of,
)

# Within the 16,000 characters that a failed attempt may record.
LONGEST_TRACEBACK = 12_000


class DjangoTaskInputs(ModuleInputs):  # type: ignore[no-redef] # from pydantic's mypy plugin
    """The task and its arguments."""

    path: str = Field(
        max_length=500,
        pattern=r"^\w+(\.\w+)+$",
        description="The dotted path of the task, which must be an object that `@task` created.",
        examples=["shop.tasks.charge"],
    )
    args: list[Any] = Field(default=[], description="The task's positional arguments.")
    kwargs: dict[str, Any] = Field(default={}, description="The task's keyword arguments.")
    retry_on: list[str] = Field(
        default=[],
        description=(
            "Dotted paths of exceptions after which the task is retried, in addition to transient "
            "errors such as a lost connection."
        ),
        examples=[["shop.errors.Busy"]],
    )


class DjangoTaskOutputs(ModuleOutputs):
    """The task's return value."""

    result: Any = Field(description="The returned value.")


class DjangoTask(Module[DjangoTaskInputs]):
    """Runs a task that was enqueued with `task.enqueue()` of Django's Tasks framework.

    An exception in the task fails the step; the error contains the exception's class and traceback.
    If the task fails permanently, you can requeue the dead letter with other `args` and `kwargs`.
    Valkyr's task backend creates the workflows that use this step. The step fails in any other
    workflow. It also fails if its `path` is not the path of the enqueued task.
    """

    type = "django.task"
    title = "Django task"
    category = "code"
    Inputs = DjangoTaskInputs
    Outputs = DjangoTaskOutputs
    effect = "external"
    retry = "none"
    timeout_seconds = 600.0
    takes_secrets = False
    example = {"path": "shop.tasks.charge", "args": [7], "kwargs": {"currency": "EUR"}}
    bad_inputs = (
        Bad("a path without a module", {"path": "charge"}, "path: String should match pattern"),
    )

    def execute(self, inputs: DjangoTaskInputs, ctx: StepContext) -> Result:
        """Run the task once, as one attempt of the step."""
        result = _begun(inputs, ctx)
        from valkyr_plugins.task_backend import announcing
        from valkyr_plugins.task_backend.framework import TaskContext, normalize_json

        task = result.task
        announcing.announce_start(result)
        first: tuple[Any, ...] = (TaskContext(task_result=result),) if task.takes_context else ()
        try:
            value = normalize_json(task.call(*first, *inputs.args, **inputs.kwargs))
        except StepError:
            raise
        except Exception as error:
            raise _failure(error, inputs.retry_on) from error
        announcing.expect_end(ctx.execution_id, result, value)
        return Result({"result": value})


def _begun(inputs: DjangoTaskInputs, ctx: StepContext) -> Any:
    """Return the task's result at the start of this attempt, with the arguments of the attempt.

    Raises StepError if the task was not enqueued or was removed, or if the framework is missing.
    """
    try:
        from valkyr_plugins.task_backend.framework import InvalidTask, TaskResultStatus
        from valkyr_plugins.task_backend.results import begun_result, set_value
    except ImportError:
        raise StepError(
            "Django's Tasks framework is not installed. Install Django 6, or on Django 5.2 "
            "`pip install django-tasks`, and restart the workers."
        ) from None
    try:
        # Check this before importing anything by its path: users who may write or start workflows,
        # or change a dead letter's inputs, must not choose the code that runs.
        result = begun_result(ctx.execution_id, inputs.path)
    except InvalidTask as error:
        raise StepError(str(error)) from error
    set_value(result, "args", inputs.args)
    set_value(result, "kwargs", inputs.kwargs)
    set_value(result, "status", TaskResultStatus.RUNNING)
    set_value(result, "finished_at", None)
    return result


def _failure(error: Exception, retry_on: list[str]) -> StepError:
    from valkyr_plugins.task_backend.results import EXCEPTION, TRACEBACK, error_of

    path, trace = error_of(error)
    again = isinstance(error, tuple(import_string(one) for one in retry_on))
    kind = error_type_of(error)
    if again and kind is ErrorType.PERMANENT:
        kind = ErrorType.TRANSIENT
    return StepError(
        f"{type(error).__name__}: {error}" if str(error) else type(error).__name__,
        kind,
        details={EXCEPTION: path, TRACEBACK: trace[-LONGEST_TRACEBACK:]},
    )
