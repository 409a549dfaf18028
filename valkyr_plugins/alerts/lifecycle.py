"""Open, count and close alerts; other modules only delete alerts.

At most one alert is open per rule, kind and subject, even if several are raised concurrently. If a
problem recurs within the rule's interval after a notification, its alert is reopened, and reported
once the interval is over.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import F, Q

from dlq.public.metrics import BOUND, Counter, Family
from executions.public.addresses import public_page
from executions.public.database import database_now, transaction
from valkyr_plugins.alerts.models import (
    Alert,
    AlertDelivery,
    AlertKind,
    AlertRule,
    AlertState,
    DeliveryReason,
)

# Findings, before any rule is applied: each is one occurrence or one lasting condition.


# Conditions that are checked repeatedly. All other kinds are events.
LASTING = frozenset(
    {AlertKind.RATE_HIGH, AlertKind.ENTRY_OLD, AlertKind.NO_WORKER, AlertKind.BEAT_SILENT}
)
# Kinds whose end is also notified, with an all clear.
CLEARED = LASTING | {AlertKind.CIRCUIT_OPEN}


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that was found.

    `subject` identifies the problem within its kind, such as `group:<id>`. `path` is the address of
    the problem's page. `sentence` is for people and contains no payload; `details` is for programs.
    """

    kind: AlertKind
    subject: str
    sentence: str
    path: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    workspace_id: UUID | None = None
    workflow_id: UUID | None = None


# Queue messages about alerts: a few alerts separately, more in one message, up to a maximum rate.


# Up to 3 simultaneous alerts have one message each. More share a message, which lists 10.
EACH = 3
LISTED = 10
# Maximum number of one rule's messages in 10 min. Further alerts are reported together later.
MOST = 20
WITHIN = timedelta(minutes=10)


def queue(rule: AlertRule, alerts: Sequence[Alert], reason: DeliveryReason) -> Sequence[Alert]:
    """Queue messages about the alerts in this transaction; return the reported alerts.

    After too many recent messages of the rule, queue only all-clear messages; return () for others.
    """
    if not alerts or (reason != DeliveryReason.OVER and _is_loud(rule)):
        return ()
    together = [alerts] if len(alerts) > EACH else [[alert] for alert in alerts]
    AlertDelivery.objects.bulk_create(_delivery(rule, some, reason) for some in together)
    return alerts


def message_of(rule: AlertRule, alerts: Sequence[Alert], reason: str) -> dict[str, Any]:
    """Return a message's content, for every channel; it is stored and sent again in retries."""
    workspace = rule.workspace
    return {
        "reason": str(reason),
        "rule": {"id": str(rule.pk), "name": rule.name},
        "workspace": None if workspace is None else workspace.slug,
        "alerts": [_told(alert) for alert in alerts[:LISTED]],
        "more": max(0, len(alerts) - LISTED),
    }


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
        "link": public_page(alert.path),
        "count": alert.count,
        "firstAt": alert.first_at.isoformat(),
        "lastAt": alert.last_at.isoformat(),
        "details": alert.details,
    }


# Maximum number of alerts in one report; later reports contain the others.
MOST_AT_ONCE = 1_000


def notice(rule: AlertRule, finding: Finding) -> Alert:
    """Open, reopen or update the rule's alert about the finding; return the alert."""
    with transaction.atomic():
        alert = _newest(rule, finding)
        if alert is not None:
            return _counted(alert, rule, finding)
        pk = _open(rule, finding)
        found = _newest(rule, finding)
        assert found is not None, "it was inserted, by us or by whom we waited for"
        return found if found.pk == pk else _counted(found, rule, finding)


def tell(rule: AlertRule) -> int:
    """Queue the notifications that are due; return the number of alerts that they report."""
    with transaction.atomic():
        now = database_now()
        due = list(
            Alert.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(rule=rule, state=AlertState.OPEN, count__gt=F("told_count"))
            .filter(Q(told_at=None) | Q(told_at__lte=now - _interval(rule)))
            .order_by("id")[:MOST_AT_ONCE]
        )
        first = [alert for alert in due if alert.told_at is None]
        again = [alert for alert in due if alert.told_at is not None]
        told = [
            *queue(rule, first, DeliveryReason.RAISED),
            *queue(rule, again, DeliveryReason.AGAIN),
        ]
        Alert.objects.filter(pk__in=[alert.pk for alert in told]).update(
            told_count=F("count"), told_at=now
        )
    return len(told)


def close(rule: AlertRule, ids: Iterable[UUID], *, silently: bool = False) -> int:
    """Close the open alerts among `ids`; return their number.

    Unless `silently` is set, queue all-clear messages for alerts that were reported and whose
    kind has an all clear.
    """
    wanted = list(ids)
    if not wanted:
        return 0
    with transaction.atomic():
        rows = Alert.objects.select_for_update(of=("self",))
        ended = list(rows.filter(pk__in=wanted, state=AlertState.OPEN).order_by("id"))
        Alert.objects.filter(pk__in=[alert.pk for alert in ended]).update(
            state=AlertState.OVER, over_at=database_now()
        )
        if not silently:
            told = [a for a in ended if a.told_count and a.kind in CLEARED]
            queue(rule, told, DeliveryReason.OVER)
    return len(ended)


def _newest(rule: AlertRule, finding: Finding) -> Alert | None:
    """Lock and return the alert that is open or can still be reopened; None if there is none."""
    lately = database_now() - _interval(rule)
    return (
        Alert.objects.select_for_update(of=("self",), no_key=True)
        .filter(Q(state=AlertState.OPEN) | Q(told_at__gt=lately))
        .filter(rule=rule, kind=finding.kind, subject=finding.subject[:400])
        .order_by("-id")
        .first()
    )


def _open(rule: AlertRule, finding: Finding) -> UUID:
    alert = Alert(
        workspace_id=rule.workspace_id,
        rule=rule,
        kind=finding.kind,
        subject=finding.subject[:400],
        **_facts(finding),
    )
    # If two processes create it at once, the second waits for the first, and then finds the row.
    Alert.objects.bulk_create([alert], ignore_conflicts=True)
    return UUID(str(alert.pk))


def _counted(alert: Alert, rule: AlertRule, finding: Finding) -> Alert:
    now = database_now()
    reopens = alert.state == AlertState.OVER
    if reopens:
        alert.state, alert.over_at, alert.told_count = AlertState.OPEN, None, 0
    if reopens or _is_another(alert, rule, finding, now):
        alert.count += 1
    alert.last_at = now
    for name, value in _facts(finding).items():
        setattr(alert, name, value)
    alert.save()
    return alert


def _is_another(alert: Alert, rule: AlertRule, finding: Finding, now: datetime) -> bool:
    """Return whether to count the occurrence: an event always, a condition once per interval."""
    if finding.kind not in LASTING:
        return True
    return alert.told_at is not None and alert.told_at <= now - _interval(rule)


def _facts(finding: Finding) -> dict[str, object]:
    return {
        "sentence": finding.sentence[:1_000],
        "path": finding.path[:500],
        "details": dict(finding.details),
    }


def _interval(rule: AlertRule) -> timedelta:
    return timedelta(seconds=rule.interval_seconds)


# The metrics of alerts.


DELIVERIES = Counter(
    "valkyr_alert_deliveries",
    "Attempts to deliver an alert message, by channel and result.",
    ["channel", "outcome"],
)


def open_alerts(now: datetime) -> Iterator[Family]:
    """Yield the metric with the number of open alerts, counted up to a limit."""
    count = Alert.objects.filter(state=AlertState.OPEN).order_by()[:BOUND].count()
    yield Family("valkyr_alerts_open", "Open alerts.", count)
