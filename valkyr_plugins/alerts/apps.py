"""The Django app of the plugin `alerts`."""

from datetime import timedelta

from executions.public.plugins import PluginConfig
from valkyr_plugins.alerts.conf import AlertSettings, every


class AlertsConfig(PluginConfig):
    """Rules that notify users of problems, by mail, Slack or a webhook."""

    name = "valkyr_plugins.alerts"
    label = "valkyr_alerts"
    verbose_name = "Alerts"
    settings_class = AlertSettings
    api = "valkyr_plugins.alerts.urls"
    api_tags = {
        "AlertRule": "Rules that decide which problems are reported, to whom and how often.",
        "Alert": "Problems that alert rules detected.",
        "AlertDelivery": "The messages of alert rules, and the result of each.",
    }
    api_enums = {
        "AlertChannel": "valkyr_plugins.alerts.models.AlertChannel",
        "AlertKind": "valkyr_plugins.alerts.models.AlertKind",
        "AlertState": "valkyr_plugins.alerts.models.AlertState",
        "DeliveryReason": "valkyr_plugins.alerts.models.DeliveryReason",
        "DeliveryState": "valkyr_plugins.alerts.models.DeliveryState",
    }
    schedule = {
        "valkyr: alerts": {"task": "valkyr_alerts.tell", "every": timedelta(seconds=5)},
        "valkyr: watch": {"task": "valkyr_alerts.watch", "every": every},
        "valkyr: old alerts": {"task": "valkyr_alerts.forget", "every": timedelta(hours=1)},
    }

    def ready(self) -> None:
        """Connect the signals; register the metrics, the secrets and the items of bundles."""
        from dlq.public.metrics import TRIAGE
        from executions.public import bundles
        from valkyr_plugins.alerts import (
            beat_monitor,
            bundle_items,
            lifecycle,
            news,  # noqa: F401 - connects on import
            rules,  # noqa: F401 - connects on import
        )

        TRIAGE.append(lifecycle.open_alerts)
        bundles.register(bundle_items.AlertRuleItems())
        beat_monitor.connect()
