"""The Django app of the plugin `python_workflows`."""

from typing import Any

from django.db.models.signals import post_migrate

from executions.public.plugins import PluginConfig


class PythonWorkflowsConfig(PluginConfig):
    """Finds steps and workflows in the project's apps, and publishes the workflows on `migrate`."""

    name = "valkyr_plugins.python_workflows"
    label = "valkyr_python_workflows"
    verbose_name = "Python workflows"

    def ready(self) -> None:
        """Import each app's steps and workflows; register a check; publish after `migrate`."""
        from valkyr_plugins.python_workflows import checks  # noqa: F401 - registers on import
        from valkyr_plugins.python_workflows.discovery import discover

        discover()
        # Listen to the signals of all apps, because Django sends none for an app without models.
        post_migrate.connect(_publish, dispatch_uid=self.name)


def _publish(sender: Any, using: str, verbosity: int = 1, **_: Any) -> None:
    from executions.public.database import alias, cell
    from executions.public.models import Workflow
    from valkyr_plugins.python_workflows.publishing import publish_all, tables_exist

    if cell():  # workflows in code are published only in the first database
        return
    if sender is not Workflow._meta.app_config or using != alias() or not tables_exist(Workflow):
        return
    for slug, version in publish_all().items():
        if version.created and verbosity:
            print(f"  Published workflow {slug}, version {version.number}")  # noqa: T201
