"""The duty that looks whether what rules ask about holds, and whether what was told of is over."""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from dlq.public.beat import pulse
from executions.public.database import database_now
from valkyr_plugins.alerts.conditions.ended import dealt_with, still_by_kind
from valkyr_plugins.alerts.conditions.oldest import old_entries
from valkyr_plugins.alerts.conditions.queues import unserved_queues
from valkyr_plugins.alerts.conditions.rate import high_rates
from valkyr_plugins.alerts.conf import config
from valkyr_plugins.alerts.finding import Finding
from valkyr_plugins.alerts.models import (
    Alert,
    AlertDelivery,
    AlertKind,
    AlertRule,
    AlertState,
    DeliveryState,
)
from valkyr_plugins.alerts.raising import close, notice, tell
from valkyr_plugins.alerts.silence import silence

log = logging.getLogger(__name__)
Look = Callable[[AlertRule, datetime], Iterable[Finding]]
# What of the rules' conditions is looked for here; whether beat ticks is seen elsewhere.
LOOKS: dict[AlertKind, Look] = {
    AlertKind.RATE_HIGH: high_rates,
    AlertKind.ENTRY_OLD: old_entries,
    AlertKind.NO_WORKER: unserved_queues,
}
BATCH = 1_000
MOST_RULES = 5_000


def watch() -> dict[str, int]:
    """Look at every rule and every open alert; counts of what was told and what is over."""
    told = over = 0
    for rule in AlertRule.objects.select_related("workspace").order_by("id")[:MOST_RULES]:
        try:
            now_told, now_over = look(rule)
        except Exception:
            log.exception("could not look at alert rule %s; going on", rule.pk)
            continue
        told, over = told + now_told, over + now_over
    return {"told": told, "over": over + _dealt_with()}


def look(rule: AlertRule) -> tuple[int, int]:
    """Look for what one rule asks about; how many alerts were told of, and how many are over."""
    now = database_now()
    with transaction.atomic():
        over = _drop(rule)
        if not rule.enabled:
            return 0, over
        for kind in LOOKS.keys() & set(rule.kinds):
            holding = {notice(rule, finding).pk for finding in LOOKS[AlertKind(kind)](rule, now)}
            over += _over(rule, kind, holding)
        if AlertKind.BEAT_SILENT in rule.kinds and _beats(rule, now):
            over += _over(rule, AlertKind.BEAT_SILENT, set())
        return tell(rule), over


def forget() -> int:
    """Delete alerts that were over, and tests that were sent, long ago; returns how many."""
    before = database_now() - timedelta(days=config().kept_days)
    old = Alert.objects.filter(state=AlertState.OVER, over_at__lt=before)
    ids = list(old.values_list("pk", flat=True)[:BATCH])
    tests = AlertDelivery.objects.filter(alert=None, created_at__lt=before)
    tests = tests.exclude(state=DeliveryState.QUEUED)
    test_ids = list(tests.values_list("pk", flat=True)[:BATCH])
    AlertDelivery.objects.filter(pk__in=test_ids).delete()
    Alert.objects.filter(pk__in=ids, state=AlertState.OVER).delete()
    return len(ids) + len(test_ids)


def _beats(rule: AlertRule, now: datetime) -> bool:
    last = pulse.last_beat()
    return last is not None and silence(rule, last, now) is None


def _over(rule: AlertRule, kind: str, holding: set[UUID]) -> int:
    """Close the open alerts of the rule's kind that do not hold any more."""
    opened = Alert.objects.filter(rule=rule, kind=kind, state=AlertState.OPEN)
    return close(rule, opened.exclude(pk__in=holding).values_list("pk", flat=True))


def _drop(rule: AlertRule) -> int:
    """Close, in silence, what the rule does not ask about any more."""
    opened = Alert.objects.filter(rule=rule, state=AlertState.OPEN)
    if rule.enabled:
        opened = opened.exclude(kind__in=rule.kinds)
    return close(rule, opened.values_list("pk", flat=True), silently=True)


def _dealt_with() -> int:
    over = 0
    for kind, lasting in still_by_kind().items():
        for alert in dealt_with(kind, lasting):
            over += close(alert.rule, [alert.pk])
    return over
