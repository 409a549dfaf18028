"""What Prometheus is told of alerts."""

from collections.abc import Iterator
from datetime import datetime

from dlq.public.metrics import BOUND, Counter, Family
from valkyr_plugins.alerts.models import Alert, AlertState

DELIVERIES = Counter(
    "valkyr_alert_deliveries",
    "Attempts to deliver an alert, by channel and whether the receiver took it.",
    ["channel", "outcome"],
)


def open_alerts(now: datetime) -> Iterator[Family]:
    """How many alerts are not over, up to a bound."""
    count = Alert.objects.filter(state=AlertState.OPEN).order_by()[:BOUND].count()
    yield Family("valkyr_alerts_open", "Alerts that are not over.", count)
