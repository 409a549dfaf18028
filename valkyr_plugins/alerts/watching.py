"""The duty that checks the conditions of rules, and closes alerts whose problems are over."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Model, QuerySet

from dlq.public.beat import pulse
from dlq.public.events import stopped_redrives
from dlq.public.models import FailureGroup, GroupStatus
from executions.public.conditions import LASTING, Lasting
from executions.public.database import AdvisoryLock, alone, database_now, transaction
from valkyr_plugins.alerts.beat_monitor import silence
from valkyr_plugins.alerts.conditions import high_rates, old_entries, unserved_queues
from valkyr_plugins.alerts.conf import config
from valkyr_plugins.alerts.lifecycle import Finding, close, notice, tell
from valkyr_plugins.alerts.models import (
    Alert,
    AlertDelivery,
    AlertKind,
    AlertRule,
    AlertState,
    DeliveryState,
)
from valkyr_plugins.alerts.news import fold
from valkyr_plugins.alerts.sending import send_due

# Close alerts about events once a user has handled the problem.


ALERTS_AT_ONCE = 500
# Maximum number of open alerts of one kind that a pass checks, the oldest first.
MOST_ALERTS = 20_000
# Kinds whose lasting alerts a plugin reports. An alert that the plugin no longer reports is over.
OF_PLUGINS = (
    AlertKind.CIRCUIT_OPEN,
    AlertKind.CANARY_STOPPED,
    AlertKind.BUDGET_SOFT,
    AlertKind.BUDGET_SPENT,
)
Ids = Collection[UUID]


def still_by_kind() -> dict[AlertKind, Lasting]:
    """Return functions that find the objects whose problems persist, keyed by kind of alert."""
    plugged = {AlertKind(kind): lasting for kind, lasting in LASTING.items()}
    return {**dict.fromkeys(OF_PLUGINS, _none), **STILL, **plugged}


def dealt_with(kind: AlertKind, lasting: Lasting) -> Iterator[Alert]:
    """Yield the open alerts of this kind whose problems are over, among the oldest 20,000.

    Uses up to two queries per 500 alerts; the functions of plugins may use more.
    """
    last: UUID | None = None
    for _ in range(0, MOST_ALERTS, ALERTS_AT_ONCE):
        alerts = _batch(kind, last)
        if not alerts:
            return
        subjects = {alert.pk: UUID(alert.subject.partition(":")[2]) for alert in alerts}
        still = lasting(set(subjects.values()))
        yield from (alert for alert in alerts if subjects[alert.pk] not in still)
        last = alerts[-1].pk


def _batch(kind: AlertKind, after: UUID | None) -> list[Alert]:
    rows = Alert.objects.select_related("rule", "rule__workspace").filter(
        kind=kind, state=AlertState.OPEN
    )
    if after is not None:
        rows = rows.filter(pk__gt=after)
    return list(rows.order_by("pk")[:ALERTS_AT_ONCE])


def _pending(rows: QuerySet[Any], **wanted: Any) -> Callable[[Ids], set[UUID]]:
    return lambda ids: set(rows.filter(pk__in=ids, **wanted).values_list("pk", flat=True))


def _none(ids: Collection[UUID]) -> set[UUID]:
    return set()


def _of(model: type[Model]) -> QuerySet[Any]:
    return model._default_manager.all()


def _stopped(ids: Ids) -> set[UUID]:
    """Return the redrives in `ids` that are still stopped; none without the plugin `redrive`."""
    return stopped_redrives(ids) if stopped_redrives.provided else set()


STILL: Mapping[AlertKind, Callable[[Ids], set[UUID]]] = {
    AlertKind.GROUP_NEW: _pending(_of(FailureGroup), status=GroupStatus.NEW, merged_into=None),
    AlertKind.GROUP_REGRESSED: _pending(
        _of(FailureGroup), status=GroupStatus.REGRESSED, merged_into=None
    ),
    AlertKind.REDRIVE_STOPPED: _stopped,
}


log = logging.getLogger(__name__)
Look = Callable[[AlertRule, datetime], Iterable[Finding]]
# The conditions that are checked here; `beat_monitor` checks whether beat runs.
LOOKS: dict[AlertKind, Look] = {
    AlertKind.RATE_HIGH: high_rates,
    AlertKind.ENTRY_OLD: old_entries,
    AlertKind.NO_WORKER: unserved_queues,
}
BATCH = 1_000
MOST_RULES = 5_000


def watch() -> dict[str, int]:
    """Check open alerts and up to 5,000 rules; return how many alerts were reported and closed."""
    told = over = 0
    for rule in AlertRule.objects.select_related("workspace").order_by("id")[:MOST_RULES]:
        try:
            now_told, now_over = look(rule)
        except Exception:
            log.exception("could not check alert rule %s; continuing with the others", rule.pk)
            continue
        told, over = told + now_told, over + now_over
    return {"told": told, "over": over + _dealt_with()}


def look(rule: AlertRule) -> tuple[int, int]:
    """Check one rule; return the numbers of alerts reported and closed."""
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
    """Delete up to 1,000 old closed alerts and up to 1,000 old test messages; return the sum."""
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
    """Close the rule's open alerts of a kind, except those in `holding`; return their number."""
    opened = Alert.objects.filter(rule=rule, kind=kind, state=AlertState.OPEN)
    return close(rule, opened.exclude(pk__in=holding).values_list("pk", flat=True))


def _drop(rule: AlertRule) -> int:
    """Silently close the alerts of kinds that the rule no longer reports; return their number."""
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


# Beat's duties for alerts: handle news, send messages and check conditions.


def deliver() -> dict[str, int]:
    """Turn news into alerts, and send due messages; return the numbers of alerts and attempts."""
    return {"told": fold(), "attempts": send_due()}


def watch_alone() -> dict[str, int]:
    """Check the rules' conditions; return `watch`'s counts, or {} if another process does so."""
    with alone(AdvisoryLock.ALERT_WATCHING) as mine:
        return watch() if mine else {}
