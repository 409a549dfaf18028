"""The app `executions`."""

from django.apps import AppConfig


class ExecutionsConfig(AppConfig):
    """Workflows, versions, triggers, executions."""

    name = "executions"
    verbose_name = "Workflows"

    def ready(self) -> None:
        """Refuse limits and keys that make no sense now, not at first use; listen to executions."""
        from executions import (  # noqa: F401 - connects on import
            failure,
            metrics,
            migrating,
        )
        from executions.accounts import browser_sessions  # noqa: F401 - connects on import
        from executions.audit import signing_in  # noqa: F401 - connects on import
        from executions.limits import limits
        from executions.sealing import sources
        from executions.tracing import connect
        from executions.triggers import cron  # noqa: F401 - connects on import

        metrics.connect()
        migrating.connect(self)
        connect()
        limits()
        sources.present()
        sources.old()
