"""The rows of an execution as a `TaskResult` of the framework.

Attempts are the runs of the task's step. After a dead letter is requeued, the status changes from
FAILED to READY, to RUNNING, and to the final status.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone

from executions.public.models import FINAL, ExecutionState, WorkflowExecution
from executions.public.payload_store import load
from runners.public.models import Run, RunState
from runners.public.modules import ErrorType, StepError
from valkyr_plugins.task_backend.framework import (
    AnyResult,
    AnyTask,
    InvalidTask,
    TaskError,
    TaskResult,
    TaskResultDoesNotExist,
    TaskResultStatus,
)
from valkyr_plugins.task_backend.publishing import ORIGIN, STEP_PATH
from valkyr_plugins.task_backend.registered import registered_task

EXCEPTION, TRACEBACK = "exceptionClass", "traceback"
FAILED = frozenset({RunState.FAILED, RunState.DLQ})
ENQUEUED = frozenset({"path", "args", "kwargs", "priority", "queue", "backend"})
HELD = frozenset({RunState.LEASED, RunState.RUNNING})
# Exception classes for failures that no exception of the task caused.
ENDED = {
    ExecutionState.CANCELLED: "concurrent.futures.CancelledError",
    ExecutionState.TIMEOUT: "builtins.TimeoutError",
}
COLUMNS = (
    "attempt",
    "state",
    "leased_by",
    "started_at",
    "error",
    "error_type",
    "error_details",
)


def new_result(task: AnyTask, pk: UUID, args: Any, kwargs: Any) -> AnyResult:
    """Return the result of a task that was just enqueued."""
    return _result(task, pk, args, kwargs, TaskResultStatus.READY, enqueued_at=timezone.now())


def find_result(pk: UUID, backend: str) -> AnyResult:
    """Return the current result. Uses two queries.

    Raises TaskResultDoesNotExist, including for an execution of another backend or of a workflow
    that does not belong to a task. Raises InvalidTask if the task was removed from the code.
    """
    found = _execution(pk)
    if found is None or _call(found).get("backend") != backend:
        raise TaskResultDoesNotExist(str(pk))
    return result_of(found)


def _call(execution: WorkflowExecution) -> Mapping[str, Any]:
    """Return the enqueued call: the task's path, its arguments and the backend."""
    payload: Mapping[str, Any] = execution.trigger_payload or {}
    return payload


def read_result(pk: UUID) -> AnyResult | None:
    """Return the result of an execution of any backend; None if it does not belong to a task."""
    found = _execution(pk)
    return None if found is None else result_of(found)


def begun_result(pk: UUID, path: str) -> AnyResult:
    """Return the task result of an execution that must have been enqueued for the task at `path`.

    Otherwise, raises InvalidTask without importing a module. Also raises it for a removed task.
    """
    found = _execution(pk)
    if found is None or _call(found)["path"] != path:
        raise InvalidTask(
            f"The task {path!r} was not enqueued as execution {pk}. This step runs only the "
            "enqueued task; its path cannot be changed."
        )
    return result_of(found)


def result_of(execution: WorkflowExecution) -> AnyResult:
    """Return the result from the rows of an execution. Uses one query. Raises InvalidTask."""
    payload = _call(execution)
    runs = _runs(execution.pk)
    began = [run for run in runs if run.started_at is not None]
    made = _result(
        _task(payload),
        execution.pk,
        payload["args"],
        payload["kwargs"],
        _status(execution, runs),
        enqueued_at=execution.created_at,
        started_at=began[0].started_at if began else None,
        last_attempted_at=began[-1].started_at if began else None,
        finished_at=execution.finished_at,
        errors=_errors(execution, runs),
        worker_ids=[run.runner for run in began if run.leased_by],
    )
    set_value(made, "_return_value", execution.output)
    return made


def set_value(result: AnyResult, name: str, value: Any) -> None:
    """Set a field of a result, which is frozen for its users."""
    object.__setattr__(result, name, value)


def error_of(exception: BaseException) -> tuple[str, str]:
    """Return the path of an exception's class, and its traceback as text."""
    from traceback import format_exception

    kind = type(exception)
    return f"{kind.__module__}.{kind.__qualname__}", "".join(format_exception(exception))


def _execution(pk: UUID) -> WorkflowExecution | None:
    rows = WorkflowExecution.objects.filter(pk=pk, workflow__origin__startswith=ORIGIN)
    found = rows.only(
        "workspace_id", "state", "trigger_payload", "output", "created_at", "finished_at",
        "error_message",
    ).first()  # fmt: skip
    if found is None:
        return None
    payload, output = load(found.workspace_id, [found.trigger_payload, found.output])
    found.trigger_payload, found.output = payload, output
    # A user may start a task's workflow manually, with a payload of any shape.
    return found if isinstance(payload, dict) and payload.keys() >= ENQUEUED else None


def _runs(pk: UUID) -> Sequence[Run]:
    rows = Run.objects.filter(execution_id=pk, step_path=STEP_PATH, superseded=False)
    return list(rows.order_by("attempt", "id").only(*COLUMNS))


def _task(payload: Mapping[str, Any]) -> AnyTask:
    """Return the task as it was enqueued, with its priority, queue and start time."""
    after = payload.get("runAfter")
    return registered_task(payload["path"]).using(
        priority=payload["priority"],
        queue_name=payload["queue"],
        backend=payload["backend"],
        run_after=None if after is None else datetime.fromisoformat(after),
    )


def _status(execution: WorkflowExecution, runs: Iterable[Run]) -> TaskResultStatus:
    if execution.state == ExecutionState.SUCCESS:
        return TaskResultStatus.SUCCESSFUL
    if execution.state in FINAL:
        return TaskResultStatus.FAILED
    running = any(run.state in HELD for run in runs)
    return TaskResultStatus.RUNNING if running else TaskResultStatus.READY


def _errors(execution: WorkflowExecution, runs: Iterable[Run]) -> list[TaskError]:
    found = [_error(run) for run in runs if run.state in FAILED]
    if execution.state in ENDED:
        path = ENDED[ExecutionState(execution.state)]
        found.append(TaskError(exception_class_path=path, traceback=execution.error_message))
    return found


def _error(run: Run) -> TaskError:
    recorded = run.error_details or {}
    told = recorded.get("details")
    if isinstance(told, dict) and EXCEPTION in told:
        return TaskError(exception_class_path=told[EXCEPTION], traceback=told[TRACEBACK])
    late = run.error_type == ErrorType.TIMEOUT
    path = "builtins.TimeoutError" if late else f"{StepError.__module__}.{StepError.__qualname__}"
    frames = recorded.get("traceback") or ""
    return TaskError(exception_class_path=path, traceback=f"{frames}\n{run.error}".strip())


def _result(
    task: AnyTask,
    pk: UUID,
    args: Any,
    kwargs: Any,
    status: TaskResultStatus,
    *,
    enqueued_at: datetime | None,
    **more: Any,
) -> AnyResult:
    facts: dict[str, Any] = {
        "started_at": None,
        "last_attempted_at": None,
        "finished_at": None,
        "errors": [],
        "worker_ids": [],
    }
    return TaskResult(
        task=task,
        id=str(pk),
        status=status,
        enqueued_at=enqueued_at,
        args=args,
        kwargs=kwargs,
        backend=task.backend,
        **facts | more,
    )
