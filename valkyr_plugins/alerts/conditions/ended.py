"""Alerts of what happened, not of what lasts, are over once somebody dealt with it."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Model, QuerySet

from dlq.public.models import FailureGroup, GroupStatus, Redrive, RedriveState
from runners.public.budgets import uses_of
from runners.public.models import Budget, CircuitBreaker, CircuitState
from valkyr_plugins.alerts.models import Alert, AlertKind, AlertState

BATCH = 500
# Open alerts of a kind that one go looks at, the oldest first.
MOST = 20_000
Ids = Collection[UUID]


def dealt_with(kind: AlertKind) -> Iterator[Alert]:
    """The open alerts of a kind that are over; two queries for 500, four for budgets."""
    last: UUID | None = None
    for _ in range(0, MOST, BATCH):
        alerts = _batch(kind, last)
        if not alerts:
            return
        subjects = {alert.pk: UUID(alert.subject.partition(":")[2]) for alert in alerts}
        still = STILL[kind](set(subjects.values()))
        yield from (alert for alert in alerts if subjects[alert.pk] not in still)
        last = alerts[-1].pk


def _batch(kind: AlertKind, after: UUID | None) -> list[Alert]:
    rows = Alert.objects.select_related("rule", "rule__workspace").filter(
        kind=kind, state=AlertState.OPEN
    )
    if after is not None:
        rows = rows.filter(pk__gt=after)
    return list(rows.order_by("pk")[:BATCH])


def _pending(rows: QuerySet[Any], **wanted: Any) -> Callable[[Ids], set[UUID]]:
    return lambda ids: set(rows.filter(pk__in=ids, **wanted).values_list("pk", flat=True))


def _budgets(reached: Callable[[Budget], float]) -> Callable[[Ids], set[UUID]]:
    """Of these budgets, those of which so many per cent are spent in the present period."""

    def still(ids: Ids) -> set[UUID]:
        budgets = list(Budget.objects.filter(pk__in=ids))
        uses = uses_of(budgets)
        return {b.pk for b in budgets if uses[b.pk].percent >= reached(b)}

    return still


def _of(model: type[Model]) -> QuerySet[Any]:
    return model._default_manager.all()


STILL: Mapping[AlertKind, Callable[[Ids], set[UUID]]] = {
    AlertKind.GROUP_NEW: _pending(_of(FailureGroup), status=GroupStatus.NEW, merged_into=None),
    AlertKind.GROUP_REGRESSED: _pending(
        _of(FailureGroup), status=GroupStatus.REGRESSED, merged_into=None
    ),
    AlertKind.REDRIVE_STOPPED: _pending(_of(Redrive), state=RedriveState.STOPPED),
    AlertKind.CIRCUIT_OPEN: _pending(
        _of(CircuitBreaker), state__in=[CircuitState.OPEN, CircuitState.HALF_OPEN]
    ),
    AlertKind.BUDGET_SOFT: _budgets(lambda budget: budget.soft_percent or 100),
    AlertKind.BUDGET_SPENT: _budgets(lambda budget: 100),
}
