"""The configuration of the app `executions`, and what it does at start-up."""

from executions.plugins import ApiConfig


class ExecutionsConfig(ApiConfig):
    """The app of workflows, versions, triggers and executions."""

    name = "executions"
    verbose_name = "Workflows"
    api = "executions.api.urls"
    api_enums = {
        "ExecutionState": "executions.states.ExecutionState",
        "TriggerType": "executions.states.TriggerType",
        "HealthStatus": "executions.api.health.STATUSES",
        "QueueStatus": "executions.api.executions.QUEUE_STATES",
        "JobState": "executions.states.JobState",
        "VersionKind": "executions.states.VersionKind",
        "Role": "executions.states.Role",
        "Permission": "executions.states.Permission",
        "Container": "executions.api.modules.CONTAINERS",
        "ObjectPermission": "executions.api.permissions.CHOICES",
        "Take": "executions.api.modules.TAKES",
        "Effect": ["none", "idempotent", "database", "external"],
    }

    def ready(self) -> None:
        """Reject invalid settings at start-up, not at first use, and connect the receivers."""
        from django.core.signals import request_finished, request_started

        from executions import checks, messaging, redis_client
        from executions.accounts import browser_sessions  # noqa: F401 - connects on import
        from executions.audit import sign_ins  # noqa: F401 - connects on import
        from executions.bundles import kinds, tiers
        from executions.configuration import own_servers
        from executions.database import (
            accounts,
            connections,
            row_scope,
            row_security,
            sequences,
            silent_cells,
            time_limits,
            transaction,
        )
        from executions.database import checks as database_checks  # noqa: F401 - registers
        from executions.database.routing import route
        from executions.definition.templating import budget
        from executions.observability import metrics
        from executions.sealing import columns as sealed_columns
        from executions.sealing import payload_keys
        from executions.triggers import cron, error_workflow  # noqa: F401 - connect on import

        checks.refuse()  # before any setting is read
        route()
        accounts.connect()
        metrics.connect()
        sealed_columns.connect()
        transaction.prepare_with(payload_keys.prepare)
        time_limits.connect(self)
        row_security.connect(self)
        sequences.connect(self)
        row_scope.connect()
        silent_cells.connect()
        own_servers.name(messaging.own_addresses)
        own_servers.name(redis_client.behind_sentinels)
        own_servers.name(connections.own_addresses)
        request_started.connect(budget.begin_request, dispatch_uid="valkyr.rendering")
        request_finished.connect(budget.end_request, dispatch_uid="valkyr.rendering")
        kinds.register(tiers.TierItems())
        messaging.be_ready()
