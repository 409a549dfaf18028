"""The plugin `canvas`."""

from executions.public.plugins import PluginConfig


class CanvasConfig(PluginConfig):
    """Runs tasks of the project's Celery app as steps."""

    name = "valkyr_plugins.canvas"
    label = "valkyr_canvas"
    verbose_name = "Celery canvas"
    modules = {"celery.task": "valkyr_plugins.canvas.celery_task:CeleryTask"}
