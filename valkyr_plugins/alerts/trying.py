"""A test of a rule: one message, sent at once, by which people see whether they are reached."""

from typing import Any

from executions.public.access import Actor, record
from executions.public.database import database_now
from valkyr_plugins.alerts.models import AlertDelivery, AlertRule, DeliveryReason
from valkyr_plugins.alerts.queueing import absolute
from valkyr_plugins.alerts.sending import LEASE, send_now


def send_test(rule: AlertRule, *, actor: Actor) -> AlertDelivery:
    """Send a test, and wait for what comes of it; the delivery says so. Tried once."""
    message: dict[str, Any] = {
        "reason": str(DeliveryReason.TEST),
        "rule": {"id": str(rule.pk), "name": rule.name},
        "workspace": None if rule.workspace is None else rule.workspace.slug,
        "link": absolute(f"/admin/valkyr_alerts/alertrule/{rule.pk}/change/"),
        "alerts": [],
        "more": 0,
    }
    # Taken as it is made, so that no other sender gets it.
    delivery = AlertDelivery.objects.create(
        workspace_id=rule.workspace_id,
        rule=rule,
        reason=DeliveryReason.TEST,
        channel=rule.channel,
        message=message,
        token=1,
        next_at=database_now() + LEASE,
    )
    send_now(delivery)
    delivery.refresh_from_db()
    record(
        actor,
        "alert_rule.test",
        workspace_id=rule.workspace_id,
        object_type="AlertRule",
        object_id=rule.pk,
        details={"deliveryId": str(delivery.pk), "state": delivery.state},
    )
    return delivery
