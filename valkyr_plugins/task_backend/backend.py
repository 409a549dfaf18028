"""The backend for `TASKS`: enqueue a task as an execution, in the caller's transaction.

Importing this module loads no models, because a project's modules create tasks while apps are
loading.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any
from uuid import UUID

from django.apps import apps
from django.core import checks
from django.utils import timezone

from valkyr_plugins.task_backend.framework import (
    AnyResult,
    AnyTask,
    BaseTaskBackend,
    InvalidTask,
    InvalidTaskBackend,
    TaskResultDoesNotExist,
    normalize_json,
    task_enqueued,
)
from valkyr_plugins.task_backend.options import (
    LONGEST_WAIT,
    TaskOptions,
    engine_priority,
    queue_problem,
    read_options,
    unserved,
)
from valkyr_plugins.task_backend.registered import check_registered

APP = "valkyr_plugins.task_backend"


class Backend(BaseTaskBackend):
    """Runs tasks as durable executions; see docs/how-to/django-tasks.md."""

    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def __init__(self, alias: str, params: dict[str, Any]) -> None:
        super().__init__(alias, params)
        self._params = params

    def validate_task(self, task: AnyTask) -> None:
        """Raise InvalidTask for a task whose options the backend does not support."""
        super().validate_task(task)
        if problem := queue_problem(task.queue_name, self._read[0]):
            raise InvalidTask(f"Task {task.module_path}: {problem}.")
        if task.run_after is not None and task.run_after - timezone.now() > LONGEST_WAIT:
            raise InvalidTask(
                f"Task {task.module_path}: run_after is {task.run_after}; at most "
                f"{LONGEST_WAIT.days} days ahead can be waited for."
            )

    def enqueue(  # type: ignore[override] # equal except for type variables
        self, task: AnyTask, args: Sequence[Any], kwargs: dict[str, Any]
    ) -> AnyResult:
        """Start the task's execution, in the caller's transaction.

        Raises InvalidTask, InvalidTaskBackend, TypeError for arguments that are not JSON, and the
        errors of `publishing.start`.
        """
        from valkyr_plugins.task_backend import publishing, results

        self.validate_task(task)
        check_registered(task)
        after = task.run_after
        payload = {
            "path": task.module_path,
            "args": normalize_json(list(args)),
            "kwargs": normalize_json(dict(kwargs)),
            "priority": task.priority,
            "queue": task.queue_name,
            "backend": self.alias,
        }
        if after is not None:
            payload["runAfter"] = after.isoformat()
        shape = publishing.shape_of(task, self._options)
        handle = publishing.start(shape, payload, engine_priority(task.priority))
        result = results.new_result(task, handle.id, payload["args"], payload["kwargs"])
        task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> AnyResult:
        """Return the current result. Raises TaskResultDoesNotExist or InvalidTask."""
        from valkyr_plugins.task_backend import results

        try:
            pk = UUID(result_id)
        except (ValueError, AttributeError, TypeError):
            raise TaskResultDoesNotExist(result_id) from None
        return results.find_result(pk, self.alias)

    def check(self, **_: Any) -> list[checks.CheckMessage]:
        """Return the problems of this backend's entry in `TASKS`."""
        return list(self._check())

    @cached_property
    def _read(self) -> tuple[TaskOptions, list[str]]:
        return read_options(self.options)

    @property
    def _options(self) -> TaskOptions:
        options, problems = self._read
        if problems:
            raise InvalidTaskBackend(f"TASKS[{self.alias!r}]: {' '.join(problems)}")
        return options

    def _check(self) -> Iterator[checks.CheckMessage]:
        options, problems = self._read
        where = f"TASKS[{self.alias!r}]"
        if not apps.is_installed(APP):
            yield checks.Error(
                f"{where} uses Valkyr, but {APP} is not in INSTALLED_APPS.",
                hint="Add *valkyr.PLUGINS, or this plugin alone, to INSTALLED_APPS.",
                id="valkyr_task_backend.E001",
            )
        for problem in problems:
            yield checks.Error(f"{where}: {problem}", id="valkyr_task_backend.E002")
        for name in sorted(self.queues):
            if problem := queue_problem(name, options):
                yield checks.Error(f"{where}: {problem}.", id="valkyr_task_backend.E003")
        if "ENQUEUE_ON_COMMIT" in self._params:
            yield checks.Warning(
                f"{where}: ENQUEUE_ON_COMMIT has no effect here.",
                hint="Tasks are always part of the caller's transaction. Remove the setting.",
                id="valkyr_task_backend.W001",
            )
        if queues := unserved(self.queues, options):
            yield checks.Info(
                f"{where}: tasks of the queues {', '.join(queues)} need their own worker.",
                hint="Start one for each (docs/how-to/django-tasks.md), or map the queues to "
                "'default' or 'io' in OPTIONS['queues'].",
                id="valkyr_task_backend.I001",
            )
