"""The result of a durable canvas with the interface of Celery's `AsyncResult`, read from the rows.

Importing this module loads no models.
"""

from collections.abc import Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from celery import states
from celery.exceptions import TaskRevokedError, TimeLimitExceeded
from celery.exceptions import TimeoutError as CeleryTimeoutError
from django.db.models import F

from executions.public.messaging import celery_app
from valkyr_plugins.canvas.values import unpacked

# The task state for each state of an execution. A paused execution counts as started.
STATES: Mapping[str, str] = {
    "PENDING": states.PENDING,
    "RUNNING": states.STARTED,
    "PAUSED": states.STARTED,
    "SUCCESS": states.SUCCESS,
    "FAILED": states.FAILURE,
    "TIMEOUT": states.FAILURE,
    "CANCELLED": states.REVOKED,
}
RUN_STATES: Mapping[str, str] = {
    "PENDING": states.PENDING,
    "LEASED": states.STARTED,
    "RUNNING": states.STARTED,
    "SUCCESS": states.SUCCESS,
    "FAILED": states.FAILURE,
    "DLQ": states.FAILURE,
    "CANCELLED": states.REVOKED,
}


@dataclass(frozen=True, slots=True)
class TaskState:
    """One task of a canvas, as of its newest attempt; `result` is None until the task succeeds."""

    name: str
    state: str
    retries: int
    result: Any


class DurableResult:
    """The execution of a durable canvas, identified by its ID; other data is read on demand.

    It offers these attributes of `AsyncResult`, and their aliases: `get`, `ready`, `successful`,
    `failed`, `state`, `result`, `traceback`, `children`, and `revoke`.
    """

    def __init__(self, id: str) -> None:  # noqa: A002 - as Celery calls it
        self.id = str(UUID(id))

    def __repr__(self) -> str:
        return f"<DurableResult: {self.id}>"

    def __str__(self) -> str:
        return self.id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DurableResult) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait for the result and return it; the wait holds no thread and no connection."""
        return self._awaited().__await__()

    async def _awaited(self) -> Any:
        from executions.public.database import in_a_thread
        from executions.public.starting import ExecutionFailed

        with suppress(ExecutionFailed):
            await self.handle
        return await in_a_thread(self.get)

    @property
    def task_id(self) -> str:
        """Return the execution's ID, under Celery's name for it."""
        return self.id

    @property
    def handle(self) -> Any:
        """Return the execution's handle."""
        from executions.public.starting import Handle

        return Handle(UUID(self.id))

    @property
    def state(self) -> str:
        """Return PENDING, STARTED, RETRY, SUCCESS, FAILURE or REVOKED. Raises NotFound."""
        found = STATES[self.handle.state]
        return states.RETRY if found == states.STARTED and self._retries() else found

    status = state

    def ready(self) -> bool:
        """Return whether the execution has ended."""
        return self.state in states.READY_STATES

    def successful(self) -> bool:
        """Return whether the execution has succeeded."""
        return self.state == states.SUCCESS

    def failed(self) -> bool:
        """Return whether the execution has failed or timed out.

        After a retry in the admin, a failed execution continues.
        """
        return self.state == states.FAILURE

    def get(self, timeout: float | None = None, propagate: bool = True, **_: Any) -> Any:
        """Wait until the execution ends and return the result.

        Raises the failed task's exception or ExecutionFailed, TaskRevokedError if the execution was
        cancelled, and Celery's TimeoutError. Without `propagate`, all except TimeoutError are
        returned. Other options of Celery's `get` have no effect. Do not call this method in the
        transaction that starts the execution.
        """
        from executions.public.starting import ExecutionFailed

        try:
            return unpacked(self.handle.output(timeout)["result"])
        except TimeoutError as error:
            raise CeleryTimeoutError(str(error)) from None
        except ExecutionFailed as failed:
            raised = self._error(failed)
            if propagate:
                raise raised from failed
            return raised

    wait = get

    @property
    def result(self) -> Any:
        """Return the result, or the exception of a failure or cancellation; None before the end."""
        return self.get(timeout=0, propagate=False) if self.ready() else None

    info = result

    @property
    def traceback(self) -> str | None:
        """Return the failed task's traceback or, if missing, its error; None if no task failed."""
        run = self._failed_run()
        return None if run is None else (run.error_details or {}).get("traceback") or run.error

    @property
    def children(self) -> list[TaskState]:
        """Return the tasks that have started or are about to start, in the canvas's order.

        Uses one query, or two if the version is not cached.
        """
        rows = self._runs().annotate(version=F("execution__version_id")).order_by("attempt")
        found = {run.step_path: run for run in rows}
        return [_task_state(found[path]) for path in _in_order(found)]

    def revoke(self, *_: Any, **__: Any) -> None:
        """Cancel the execution, and ask running tasks to stop.

        Raises WrongState if the execution has ended.
        """
        self.handle.cancel("revoked")

    def _retries(self) -> bool:
        return bool(self._runs().filter(state="PENDING", attempt__gt=1).exists())

    def _failed_run(self) -> Any:
        failed = self._runs().filter(state__in=("FAILED", "DLQ"))
        return failed.order_by("-finished_at").first()

    def _runs(self) -> Any:
        from runners.public.models import Run

        rows = Run.objects.filter(execution_id=UUID(self.id), superseded=False)
        return rows.filter(module="celery.task")

    def _error(self, failed: Any) -> BaseException:
        """Return the task's exception as Celery restores it, or an error that describes the end."""
        if failed.state == "CANCELLED":
            return TaskRevokedError(failed.reason or "revoked")
        run = self._failed_run()
        if run is None:
            return failed  # type: ignore[no-any-return]
        if run.error_type == "TIMEOUT":
            return TimeLimitExceeded(run.error)
        told = (run.error_details or {}).get("details")
        if not isinstance(told, dict) or "exc_type" not in told:
            return failed  # type: ignore[no-any-return]
        found: BaseException = celery_app().backend.exception_to_python(told)
        return found


def _task_state(run: Any) -> TaskState:
    outputs = run.outputs if isinstance(run.outputs, dict) else {}
    inputs = run.inputs if isinstance(run.inputs, dict) else {}
    again = run.state == "PENDING" and run.attempt > 1
    return TaskState(
        name=inputs.get("task", ""),
        state=states.RETRY if again else RUN_STATES.get(run.state, states.PENDING),
        retries=run.attempt - 1,
        result=unpacked(outputs.get("result")),
    )


def _in_order(runs: Mapping[str, Any]) -> list[str]:
    """Return step paths in the canvas's order, with the items of a map in numeric order.

    A path is, for example, `add.main` or `add[12].one`.
    """
    from executions.public.graphs import compiled

    if not runs:
        return []
    place = compiled(next(iter(runs.values())).version).graph.task_by_id

    def key(path: str) -> tuple[int, int, str]:
        task, _, item = path.partition(".")[0].partition("[")
        return place[task], int(item.rstrip("]") or 0), path

    return sorted(runs, key=key)
