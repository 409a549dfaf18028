"""Find a registered task by its path. Only `Task` objects are ever called."""

from functools import lru_cache

from django.utils.module_loading import import_string

from valkyr_plugins.task_backend.framework import AnyTask, InvalidTask, Task


@lru_cache(maxsize=2_000)
def registered_task(path: str) -> AnyTask:
    """Return the task at a path such as `shop.tasks.charge`.

    Raises InvalidTask if the path names no object, or an object that is not a task.
    """
    try:
        found = import_string(path)
    except ImportError as error:
        raise InvalidTask(
            f"There is no task {path!r}: {error}. Keep a moved or removed task importable "
            "until all its enqueued tasks have ended."
        ) from error
    if not isinstance(found, Task):
        raise InvalidTask(
            f"{path!r} is not a task but {type(found).__name__}. Decorate the function with "
            "@task, and keep the function's name for the result."
        )
    return found


def check_registered(task: AnyTask) -> None:
    """Raise InvalidTask unless workers will find this task by its path."""
    if registered_task(task.module_path).func is not task.func:
        raise InvalidTask(
            f"The path {task.module_path!r} leads to a task other than the enqueued one. Give "
            "each task function of a module its own name."
        )
