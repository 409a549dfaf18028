"""What goes by its age alone: nothing that stays needs it any more."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Max, Min, QuerySet

from dlq.models import Redrive, RedriveItem, RedriveState
from dlq.retention import conf
from dlq.retention.pace import PruningPace
from dlq.retention.tally import PruningTally
from dlq.retention.wanted import Wanted
from executions.database.clock import first_id_at
from executions.models import CronTick
from executions.states import TickStatus
from executions.triggers import told
from executions.vendor_seams.django_deletion import delete_without_cascade
from runners.models import CostEntry

# Times of schedules that started nothing; those that did go with their execution.
STARTED_NOTHING = (TickStatus.MISSED, TickStatus.SKIPPED, TickStatus.REFUSED)


@dataclass(frozen=True, slots=True)
class Aged:
    """Rows of a kind that are older than a time; `order` is what an index gives them in.

    `workspace` and `workflow` say how a row is found by them; a kind without does not go where one
    workspace or workflow alone is pruned.
    """

    kind: str
    days: Callable[[], float]
    rows: Callable[[datetime], QuerySet[Any]]
    time: str
    order: str
    workspace: str
    workflow: str = ""

    def due(self, wanted: Wanted) -> QuerySet[Any] | None:
        """What is to go; None where nothing is."""
        before, scope = wanted.before(self.days()), wanted.scope
        if before is None or scope.states or (scope.workflow_id and not self.workflow):
            return None
        rows = self.rows(before)
        if scope.workspace_id is not None:
            rows = rows.filter(**{self.workspace: scope.workspace_id})
        if scope.workflow_id is not None:
            rows = rows.filter(**{self.workflow: scope.workflow_id})
        return rows


def _ticks(before: datetime) -> QuerySet[CronTick]:
    return CronTick.objects.filter(status__in=STARTED_NOTHING, pk__lt=first_id_at(before))


def _costs(before: datetime) -> QuerySet[CostEntry]:
    return CostEntry.objects.filter(created_at__lt=before)


def _redrives(before: datetime) -> QuerySet[Redrive]:
    over = (RedriveState.DONE, RedriveState.ABORTED)
    return Redrive.objects.filter(state__in=over, busy=False, finished_at__lt=before)


KINDS: Mapping[str, Aged] = {
    one.kind: one
    for one in (
        Aged(
            "ticks", conf.tick_days, _ticks, "fire_at", "pk",
            "trigger__workflow__workspace_id", "trigger__workflow_id",
        ),
        Aged(
            "costs", conf.cost_days, _costs, "created_at", "created_at",
            "workspace_id", "workflow_id",
        ),
        Aged(
            "redrives", conf.redrive_days, _redrives, "finished_at", "pk", "workspace_id",
        ),
        Aged("events", told.days, told.events, "created_at", "pk", "workspace_id"),
        Aged(
            "messages", told.days, told.messages, "created_at", "pk",
            "trigger__workflow__workspace_id", "trigger__workflow_id",
        ),
    )
}  # fmt: skip


def prune(kind: str, wanted: Wanted, pace: PruningPace) -> PruningTally:
    """Delete what is due of a kind."""
    tally, rows = PruningTally(kind), KINDS[kind].due(wanted)
    while rows is not None:
        if pace.over:
            tally.more = True
            break
        with pace.transaction():
            deleted = _some(KINDS[kind], rows, pace.batch, tally)
        if deleted < pace.batch:
            break
    return tally


def look(kind: str, wanted: Wanted) -> PruningTally:
    """What `prune` would delete."""
    rows = KINDS[kind].due(wanted)
    if rows is None:
        return PruningTally(kind)
    time = KINDS[kind].time
    first, last = rows.order_by().aggregate(first=Min(time), last=Max(time)).values()
    return PruningTally(kind, rows.count(), first, last)


def _some(aged: Aged, rows: QuerySet[Any], most: int, tally: PruningTally) -> int:
    """Delete a batch; how many rows, those that hang on them included."""
    chosen = rows.order_by(aged.order).select_for_update(skip_locked=True, of=("self",))
    found = list(chosen.values_list("pk", aged.time)[:most])
    if aged.kind == "redrives" and (items := _items([pk for pk, _ in found], most)):
        return items
    gone = rows.model._default_manager.filter(pk__in=[pk for pk, _ in found])
    delete_without_cascade(gone)
    tally.rows += len(found)
    for _, at in found:
        tally.span(at, at)
    return len(found)


def _items(redrives: list[Any], most: int) -> int:
    """Delete what is left of redrives' items; says `most` where there may be more to do."""
    items = RedriveItem.objects.filter(redrive_id__in=redrives)
    some = RedriveItem.objects.filter(pk__in=items.values("pk")[:most])
    return most if delete_without_cascade(some) else 0
