"""The framework's signals `task_started` and `task_finished`.

`task_finished` is sent when the execution ends, not after an attempt that will be retried. It is
sent after the commit; it is lost if the process dies in between.
"""

from collections import OrderedDict
from typing import Any
from uuid import UUID

from django.utils import timezone

from executions.public.models import ExecutionState

# The results of tasks that succeeded in this process and whose execution's end will be recorded
# next. If the lease was lost meanwhile, the result remains until it is the oldest.
_expected: OrderedDict[UUID, Any] = OrderedDict()
MOST_EXPECTED = 1_000


def announce_start(result: Any) -> None:
    """Send `task_started` for an attempt that begins."""
    from valkyr_plugins.task_backend.framework import task_started

    task_started.send_robust(_sender(result), task_result=result)


def expect_end(execution_id: UUID, result: Any, value: Any) -> None:
    """Keep the task's return value for `task_finished`, which is sent when the execution ends."""
    from valkyr_plugins.task_backend.results import set_value

    set_value(result, "_return_value", value)
    _expected[execution_id] = result
    while len(_expected) > MOST_EXPECTED:
        _expected.popitem(last=False)


def announce_end(sender: Any, *, execution_id: UUID, state: str, **_: Any) -> None:
    """Send `task_finished` once the execution of a task has ended.

    For a success, only the process that ran the task sends the signal, because a lookup in other
    processes would cost every workflow a query.
    """
    result = _expected.pop(execution_id, None)
    if state == ExecutionState.SUCCESS:
        if result is not None:
            _succeeded(result)
        return
    _failed(execution_id)


def _succeeded(result: Any) -> None:
    from valkyr_plugins.task_backend.framework import TaskResultStatus
    from valkyr_plugins.task_backend.results import set_value

    set_value(result, "status", TaskResultStatus.SUCCESSFUL)
    set_value(result, "finished_at", timezone.now())
    _finished(result)


def _failed(execution_id: UUID) -> None:
    try:
        from valkyr_plugins.task_backend.results import read_result
    except ImportError:  # without the Tasks framework, no task exists
        return
    result = read_result(execution_id)
    if result is not None:
        _finished(result)


def _finished(result: Any) -> None:
    from valkyr_plugins.task_backend.framework import task_finished

    task_finished.send_robust(_sender(result), task_result=result)


def _sender(result: Any) -> type:
    return type(result.task.get_backend())
