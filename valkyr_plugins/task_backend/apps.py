"""The Django app of the plugin `task_backend`."""

from executions.public.plugins import PluginConfig


class TaskBackendConfig(PluginConfig):
    """Runs the tasks of Django's Tasks framework."""

    name = "valkyr_plugins.task_backend"
    label = "valkyr_task_backend"
    verbose_name = "Django tasks"
    modules = {"django.task": "valkyr_plugins.task_backend.django_task:DjangoTask"}

    def ready(self) -> None:
        """Send `task_finished` when the execution of a task ends."""
        from executions.public.events import execution_ended
        from valkyr_plugins.task_backend.announcing import announce_end

        execution_ended.connect(announce_end, dispatch_uid="task_backend.announce_end")
