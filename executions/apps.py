"""The app `executions`."""

from django.apps import AppConfig


class ExecutionsConfig(AppConfig):
    """Workflows, versions, triggers, executions."""

    name = "executions"
    verbose_name = "Workflows"

    def ready(self) -> None:
        """Refuse limits and keys that make no sense now, not at first use; listen to executions."""
        from executions import checks, messaging
        from executions.accounts import browser_sessions  # noqa: F401 - connects on import
        from executions.audit import sign_ins  # noqa: F401 - connects on import
        from executions.configuration import own_servers
        from executions.database import connections, time_limits
        from executions.observability import metrics
        from executions.triggers import cron, error_workflow  # noqa: F401 - connect on import

        metrics.connect()
        time_limits.connect(self)
        checks.refuse()
        own_servers.name(messaging.own_addresses)
        own_servers.name(connections.own_addresses)
        messaging.be_ready()
