"""Alerts of what happened, not of what lasts, are over once somebody dealt with it."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any
from uuid import UUID

from django.db.models import Model, QuerySet

from dlq.public.events import stopped_redrives
from dlq.public.models import FailureGroup, GroupStatus
from executions.public.conditions import LASTING, Lasting
from valkyr_plugins.alerts.models import Alert, AlertKind, AlertState

BATCH = 500
# Open alerts of a kind that one go looks at, the oldest first.
MOST = 20_000
# Of these kinds plugins know which last; what a plugin reported that is left out now is over.
OF_PLUGINS = (AlertKind.CIRCUIT_OPEN, AlertKind.BUDGET_SOFT, AlertKind.BUDGET_SPENT)
Ids = Collection[UUID]


def still_by_kind() -> dict[AlertKind, Lasting]:
    """Who knows, by kind of alert, of which of some objects it still holds."""
    plugged = {AlertKind(kind): lasting for kind, lasting in LASTING.items()}
    return {**dict.fromkeys(OF_PLUGINS, _none), **STILL, **plugged}


def dealt_with(kind: AlertKind, lasting: Lasting) -> Iterator[Alert]:
    """The open alerts of a kind that are over; two queries for 500, more where plugins say so."""
    last: UUID | None = None
    for _ in range(0, MOST, BATCH):
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
    return list(rows.order_by("pk")[:BATCH])


def _pending(rows: QuerySet[Any], **wanted: Any) -> Callable[[Ids], set[UUID]]:
    return lambda ids: set(rows.filter(pk__in=ids, **wanted).values_list("pk", flat=True))


def _none(ids: Collection[UUID]) -> set[UUID]:
    return set()


def _of(model: type[Model]) -> QuerySet[Any]:
    return model._default_manager.all()


def _stopped(ids: Ids) -> set[UUID]:
    """None without the plugin that has redrives."""
    return stopped_redrives(ids) if stopped_redrives.provided else set()


STILL: Mapping[AlertKind, Callable[[Ids], set[UUID]]] = {
    AlertKind.GROUP_NEW: _pending(_of(FailureGroup), status=GroupStatus.NEW, merged_into=None),
    AlertKind.GROUP_REGRESSED: _pending(
        _of(FailureGroup), status=GroupStatus.REGRESSED, merged_into=None
    ),
    AlertKind.REDRIVE_STOPPED: _stopped,
}
