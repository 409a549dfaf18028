"""The app `executions`."""

from django.apps import AppConfig


class ExecutionsConfig(AppConfig):
    """Workflows, versions, triggers, executions."""

    name = "executions"
    verbose_name = "Workflows"

    def ready(self) -> None:
        """Refuse limits and keys that make no sense now, not at first use; listen to executions."""
        from executions.accounts import browser_sessions  # noqa: F401 - connects on import
        from executions.audit import signing_in  # noqa: F401 - connects on import
        from executions.database import migrating
        from executions.definition.limits import limits
        from executions.observability import metrics
        from executions.sealing import sources
        from executions.triggers import cron, error_workflow  # noqa: F401 - connect on import

        metrics.connect()
        migrating.connect(self)
        limits()
        sources.present()
        sources.old()
