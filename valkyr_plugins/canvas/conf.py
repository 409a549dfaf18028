"""The settings of Celery tasks as steps."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, Words, setting

ORIGIN = "celery canvas"  # the origin of workflows that `durable(...)` publishes


class CanvasSettings(SettingsModel):
    """Settings of the plugin `canvas`."""

    title: ClassVar[str] = "Celery tasks as steps"

    celery_tasks: Words = setting(
        (),
        "The tasks of the Celery app that `celery.task` may run, by name; `*` matches any text, "
        "as in `shop.tasks.*`. Every author of workflows can run these tasks with any arguments. "
        "Valkyr's own tasks are never included. Tasks that the project's code runs with "
        "`durable(...)` need no entry",
    )
