"""Opens, counts up and closes alerts: the only writer of them.

One alert is open for a rule, kind and subject, whoever raises it at once. One that is noticed again
within the rule's interval after people were told is opened again and told of later.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q

from executions.public.database import database_now
from valkyr_plugins.alerts.finding import CLEARED, LASTING, Finding
from valkyr_plugins.alerts.models import Alert, AlertRule, AlertState, DeliveryReason
from valkyr_plugins.alerts.queueing import queue

# More are told of together, later.
MOST_AT_ONCE = 1_000


def notice(rule: AlertRule, finding: Finding) -> Alert:
    """The open alert of this rule and subject: opened, opened again, or counted up."""
    with transaction.atomic():
        alert = _newest(rule, finding)
        if alert is not None:
            return _counted(alert, rule, finding)
        pk = _open(rule, finding)
        found = _newest(rule, finding)
        assert found is not None, "it was inserted, by us or by whom we waited for"
        return found if found.pk == pk else _counted(found, rule, finding)


def tell(rule: AlertRule) -> int:
    """Queue what people are to be told of now; how many alerts that is."""
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
    """What does not hold any more is over; people are told once, of kinds that can clear."""
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
    """The alert that is open, or over for so short a time that it may open again; locked."""
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
    # Of two that open it at once one waits for the other, and then finds it.
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
    """Whether it counts: what happens does each time, what lasts once each interval."""
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
