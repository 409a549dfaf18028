"""The app `executions`."""

from django.apps import AppConfig


class ExecutionsConfig(AppConfig):
    """Workflows, versions, triggers, executions."""

    name = "executions"
    verbose_name = "Workflows"

    def ready(self) -> None:
        """Refuse limits and keys that make no sense now, not at first use; listen to executions."""
        from executions.accounts import browser_sessions  # noqa: F401 - connects on import
        from executions.audit import sign_ins  # noqa: F401 - connects on import
        from executions.database import checks, time_limits  # noqa: F401 - checks register
        from executions.database.routing import route
        from executions.definition.limits import limits
        from executions.observability import metrics
        from executions.sealing import installation_key
        from executions.triggers import cron, error_workflow  # noqa: F401 - connect on import

        route()
        metrics.connect()
        time_limits.connect(self)
        limits()
        installation_key.present()
        installation_key.old()
