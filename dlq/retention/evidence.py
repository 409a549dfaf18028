"""Dead letters go when their time is over (`expires_at`, set as one is resolved), with their items.

Unless they are pinned, their execution is under way, or something holds them; open ones stay for
ever.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Exists, Max, Min, OuterRef, Q, QuerySet

from dlq.conf import retention_days
from dlq.models import DeadLetterEntry, Resolution
from dlq.retention.families import LettersGone
from dlq.retention.pace import PruningPace
from dlq.retention.tally import PruningTally
from dlq.retention.wanted import Wanted
from executions.states import FINAL
from executions.vendor_seams.django_deletion import delete_without_cascade

KIND = "dead letters"


@dataclass(frozen=True, slots=True)
class LetterHold:
    """Rows that keep dead letters from being deleted.

    `rows` gives those that do so at present; `entry` names their foreign key to the dead letter,
    by which an index finds them.
    """

    rows: Callable[[], QuerySet[Any]]
    entry: str


# Who refers to dead letters that must not be deleted adds what holds them.
HOLDS: list[LetterHold] = []


def prune(wanted: Wanted, pace: PruningPace) -> PruningTally:
    """Delete those that are due, the first to expire first."""
    tally = PruningTally(KIND)
    while not pace.over:
        with pace.transaction():
            deleted = _some(wanted, pace.batch, tally)
        if deleted < pace.batch:
            return tally
    tally.more = True
    return tally


def look(wanted: Wanted) -> PruningTally:
    """What `prune` would delete; and how many that are resolved stay for another reason."""
    rows = _due(wanted)
    first, last = rows.aggregate(first=Min("resolved_at"), last=Max("resolved_at")).values()
    tally = PruningTally(KIND, rows.count(), first, last)
    kept = _scoped(wanted).filter(_old(wanted), expires_at__isnull=False, pinned=True)
    tally.kept.update({"pinned": kept.count()} if kept.exists() else {})
    return tally


def gone_by(wanted: Wanted) -> LettersGone:
    """Until when those have expired, or were resolved, that this takes; and which are held."""
    held = _resolved(wanted).filter(_held())
    ids = tuple(held.values_list("pk", flat=True))
    if wanted.older_than is None:
        return LettersGone(expired=wanted.now, held=ids)
    return LettersGone(resolved=wanted.before(retention_days()), held=ids)


def _some(wanted: Wanted, most: int, tally: PruningTally) -> int:
    rows = _due(wanted).order_by("expires_at").select_for_update(skip_locked=True, of=("self",))
    found = list(rows.values_list("pk", "resolved_at")[:most])
    ids = [pk for pk, _ in found]
    DeadLetterEntry.objects.filter(follows_id__in=ids).update(follows=None)
    letters = DeadLetterEntry.objects.filter(pk__in=ids)
    delete_without_cascade(letters)
    tally.rows += len(ids)
    for _, at in found:
        tally.span(at, at)
    return len(ids)


def _due(wanted: Wanted) -> QuerySet[DeadLetterEntry]:
    return _resolved(wanted).filter(~_held(), execution__state__in=FINAL)


def _resolved(wanted: Wanted) -> QuerySet[DeadLetterEntry]:
    """Those whose time is over, held or not."""
    rows = _scoped(wanted).filter(_old(wanted), expires_at__isnull=False, pinned=False)
    return rows.exclude(resolution=Resolution.PENDING)


def _held() -> Q:
    holding = (hold.rows().filter(**{hold.entry: OuterRef("pk")}) for hold in HOLDS)
    return reduce(or_, (Q(Exists(rows)) for rows in holding), Q(pk__in=()))


def _old(wanted: Wanted) -> Q:
    if wanted.older_than is None:
        return Q(expires_at__lte=wanted.now)
    return Q(resolved_at__lt=wanted.before(retention_days()))


def _scoped(wanted: Wanted) -> QuerySet[DeadLetterEntry]:
    rows, scope = DeadLetterEntry.objects.all(), wanted.scope
    if scope.workspace_id is not None:
        rows = rows.filter(workspace_id=scope.workspace_id)
    if scope.workflow_id is not None:
        rows = rows.filter(workflow_id=scope.workflow_id)
    if scope.states:
        rows = rows.filter(execution__state__in=scope.states)
    return rows
