"""The app `executions`."""

from django.apps import AppConfig


class ExecutionsConfig(AppConfig):
    """Workflows, versions, triggers, executions."""

    name = "executions"
    verbose_name = "Workflows"

    def ready(self) -> None:
        """Refuse limits that make no sense at the start, not at the first publish."""
        from executions.limits import limits

        limits()
