"""The settings of Celery tasks as steps."""

from typing import ClassVar

from executions.public.configuration import SettingsModel, Words, setting


class CanvasSettings(SettingsModel):
    """The plugin `canvas`."""

    title: ClassVar[str] = "Celery tasks as steps"

    celery_tasks: Words = setting(
        (),
        "The tasks of the Celery app that `celery.task` may run, by name; `*` stands for any text, "
        "as in `shop.tasks.*`. Whoever may write workflows may run these with any arguments. "
        "Valkyr's own tasks are never among them",
    )
