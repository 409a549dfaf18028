"""The Django app of the plugin `canvas`."""

from executions.public.plugins import PluginConfig
from valkyr_plugins.canvas.conf import CanvasSettings


class CanvasConfig(PluginConfig):
    """Runs tasks of the project's Celery app as steps."""

    name = "valkyr_plugins.canvas"
    label = "valkyr_canvas"
    verbose_name = "Celery canvas"
    settings_class = CanvasSettings
    modules = {"celery.task": "valkyr_plugins.canvas.celery_task:CeleryTask"}
