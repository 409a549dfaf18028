"""The installed Tasks framework: Django's own from 6.0 on, or the package django-tasks.

Both have the same classes; two exceptions differ in name. Importing this module loads no models.
Raises ImportError if neither is installed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import django

if TYPE_CHECKING:
    from django.tasks.backends.base import BaseTaskBackend
    from django.tasks.base import Task, TaskContext, TaskError, TaskResult, TaskResultStatus
    from django.tasks.exceptions import (
        InvalidTask,
        InvalidTaskBackend,
        TaskResultDoesNotExist,
    )
    from django.tasks.signals import task_enqueued, task_finished, task_started
    from django.utils.json import normalize_json

    AnyTask: TypeAlias = Task[..., Any]
    AnyResult: TypeAlias = TaskResult[..., Any]
else:
    BUILT_IN = django.VERSION >= (6,)
    _ROOT = "django.tasks" if BUILT_IN else "django_tasks"
    _base = import_module(f"{_ROOT}.base")
    _errors = import_module(f"{_ROOT}.exceptions")
    _signals = import_module(f"{_ROOT}.signals")
    BaseTaskBackend = import_module(f"{_ROOT}.backends.base").BaseTaskBackend
    Task, TaskContext, TaskError = _base.Task, _base.TaskContext, _base.TaskError
    TaskResult, TaskResultStatus = _base.TaskResult, _base.TaskResultStatus
    # Generic in different ways in the two packages, or not at all.
    AnyTask, AnyResult = Task, TaskResult
    InvalidTask = _errors.InvalidTask if BUILT_IN else _errors.InvalidTaskError
    InvalidTaskBackend = _errors.InvalidTaskBackend if BUILT_IN else _errors.InvalidTaskBackendError
    TaskResultDoesNotExist = _errors.TaskResultDoesNotExist
    task_enqueued, task_started = _signals.task_enqueued, _signals.task_started
    task_finished = _signals.task_finished
    normalize_json = import_module(
        "django.utils.json" if BUILT_IN else "django_tasks.utils"
    ).normalize_json

__all__ = [
    "AnyResult",
    "AnyTask",
    "BaseTaskBackend",
    "InvalidTask",
    "InvalidTaskBackend",
    "Task",
    "TaskContext",
    "TaskError",
    "TaskResult",
    "TaskResultDoesNotExist",
    "TaskResultStatus",
    "normalize_json",
    "task_enqueued",
    "task_finished",
    "task_started",
]
