"""Queues messages about alerts: a few each by itself, many together, never too many."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings

from executions.public.database import database_now
from valkyr_plugins.alerts.models import Alert, AlertDelivery, AlertKind, AlertRule, DeliveryReason

# As many alerts at once have a message each; more share one, which lists so many.
EACH = 3
LISTED = 10
# Messages of one rule within ten minutes; what is more waits, and is then told of together.
MOST = 20
WITHIN = timedelta(minutes=10)


def queue(rule: AlertRule, alerts: Sequence[Alert], reason: DeliveryReason) -> Sequence[Alert]:
    """Queue messages, in the caller's transaction; the alerts that people will so be told of."""
    if not alerts or (reason != DeliveryReason.OVER and _is_loud(rule)):
        return ()
    together = [alerts] if len(alerts) > EACH else [[alert] for alert in alerts]
    AlertDelivery.objects.bulk_create(_delivery(rule, some, reason) for some in together)
    return alerts


def message_of(rule: AlertRule, alerts: Sequence[Alert], reason: str) -> dict[str, Any]:
    """What a message says, whatever its channel: kept as it is, so that a retry says the same."""
    workspace = rule.workspace
    return {
        "reason": str(reason),
        "rule": {"id": str(rule.pk), "name": rule.name},
        "workspace": None if workspace is None else workspace.slug,
        "alerts": [_told(alert) for alert in alerts[:LISTED]],
        "more": max(0, len(alerts) - LISTED),
    }


def absolute(path: str) -> str:
    """The address of one of our pages, as people reach it."""
    return f"{settings.PUBLIC_URL}{path}"


def _is_loud(rule: AlertRule) -> bool:
    since = database_now() - WITHIN
    recent = AlertDelivery.objects.filter(rule=rule, created_at__gt=since)
    return recent.exclude(reason=DeliveryReason.TEST)[:MOST].count() >= MOST


def _delivery(rule: AlertRule, alerts: Sequence[Alert], reason: DeliveryReason) -> AlertDelivery:
    return AlertDelivery(
        workspace_id=rule.workspace_id,
        rule=rule,
        alert=alerts[0],
        reason=reason,
        channel=rule.channel,
        message=message_of(rule, alerts, reason),
    )


def _told(alert: Alert) -> dict[str, Any]:
    return {
        "id": str(alert.pk),
        "kind": alert.kind,
        "title": str(AlertKind(alert.kind).label),
        "subject": alert.subject,
        "sentence": alert.sentence,
        "link": absolute(alert.path or "/admin/"),
        "count": alert.count,
        "firstAt": alert.first_at.isoformat(),
        "lastAt": alert.last_at.isoformat(),
        "details": alert.details,
    }
