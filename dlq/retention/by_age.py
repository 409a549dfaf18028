"""Delete rows by age alone, because no remaining row needs them, and estimate their size."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db import models
from django.db.models import Max, Min, Model, QuerySet

from dlq.models import DeadLetterEntry, FailureGroup, GroupFingerprint, GroupHour
from dlq.retention import periods
from dlq.retention.batches import PruningPace, PruningTally
from dlq.retention.periods import RetentionPeriods
from executions.database import connection
from executions.database.clock import first_id_at
from executions.models import CredentialUse, CronTick, WorkflowExecution, WorkflowVersion
from executions.states import TickStatus
from executions.triggers import retention
from executions.vendor_seams.django_deletion import delete_without_cascade
from runners.models import Run

NEVER = datetime(1970, 1, 1, tzinfo=UTC)
# Ticks that started nothing; other ticks are deleted with their execution.
STARTED_NOTHING = (TickStatus.MISSED, TickStatus.SKIPPED, TickStatus.REFUSED)


@dataclass(frozen=True, slots=True)
class Aged:
    """Rows of a kind that are deleted by age; `order` is an order that an index provides.

    `workspace` and `workflow` are the lookups of a row's workspace and workflow. A kind without
    `workflow` is skipped when only one workflow is pruned. `clear` deletes a limited number of rows
    that refer to the rows with the given keys, and returns their number.
    """

    kind: str
    days: Callable[[], float]
    rows: Callable[[datetime], QuerySet[Any]]
    time: str
    order: str
    workspace: str
    workflow: str = ""
    clear: Callable[[Sequence[Any], int], int] | None = None

    @property
    def model(self) -> type[Model]:
        """Return the model of these rows."""
        return self.rows(NEVER).model

    def due(self, wanted: RetentionPeriods) -> QuerySet[Any] | None:
        """Return the expired rows; None if this kind is kept or outside the pruning's scope."""
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


def _uses(before: datetime) -> QuerySet[CredentialUse]:
    return CredentialUse.objects.filter(pk__lt=first_id_at(before))


KINDS: dict[str, Aged] = {
    one.kind: one
    for one in (
        Aged(
            "ticks", periods.tick_days, _ticks, "fire_at", "pk",
            "trigger__workflow__workspace_id", "trigger__workflow_id",
        ),
        Aged("events", retention.days, retention.events, "created_at", "pk", "workspace_id"),
        Aged(
            "messages", retention.days, retention.messages, "created_at", "pk",
            "trigger__workflow__workspace_id", "trigger__workflow_id",
        ),
        Aged(
            "credential uses", periods.credential_use_days, _uses, "created_at", "pk",
            "workspace_id", "workflow_id",
        ),
    )
}  # fmt: skip


def add_kind(kind: Aged) -> None:
    """Add a kind of rows to retention and to `manage.py prune`.

    Raises ValueError if another kind has its name.
    """
    if KINDS.setdefault(kind.kind, kind) is not kind:
        raise ValueError(f"Retention has a kind {kind.kind!r} already. Choose another name.")


def prune(kind: str, wanted: RetentionPeriods, pace: PruningPace) -> PruningTally:
    """Delete the expired rows of a kind while the pace allows it; return a tally."""
    tally, rows = PruningTally(kind), KINDS[kind].due(wanted)
    if rows is None or not rows.exists():  # the usual case: one statement instead of a transaction
        return tally
    while True:
        if pace.over:
            tally.more = True
            break
        with pace.transaction():
            deleted = _some(KINDS[kind], rows, pace.batch, tally)
        if deleted < pace.batch:
            break
    return tally


def look(kind: str, wanted: RetentionPeriods) -> PruningTally:
    """Return the tally of the rows that `prune` would delete."""
    rows = KINDS[kind].due(wanted)
    if rows is None:
        return PruningTally(kind)
    time = KINDS[kind].time
    first, last = rows.order_by().aggregate(first=Min(time), last=Max(time)).values()
    return PruningTally(kind, rows.count(), first, last)


def _some(aged: Aged, rows: QuerySet[Any], most: int, tally: PruningTally) -> int:
    """Delete a batch; return the number of rows, or `most` if only dependent rows were deleted."""
    chosen = rows.order_by(aged.order).select_for_update(skip_locked=True, of=("self",))
    found = list(chosen.values_list("pk", aged.time)[:most])
    ids = [pk for pk, _ in found]
    if aged.clear is not None and aged.clear(ids, most):
        return most  # not finished: the next batch deletes the rows themselves
    gone = rows.model._default_manager.filter(pk__in=ids)
    delete_without_cascade(gone)
    tally.rows += len(found)
    for _, at in found:
        tally.span(at, at)
    return len(found)


# The approximate size of a row is the size of its table with indexes, divided by PostgreSQL's last
# count of rows.


MODELS: dict[str, type[models.Model]] = {
    "dead letters": DeadLetterEntry,
    "groups": FailureGroup,
    "fingerprints": GroupFingerprint,
    "hours": GroupHour,
    "executions": WorkflowExecution,
    "tests": WorkflowVersion,
    "runs": Run,
}
# If the table was never analysed, there is no count; then one row per page (8,192 bytes) is
# assumed.
SIZE = """
SELECT sum(pg_total_relation_size(c.oid))
       / greatest(sum(c.reltuples), sum(pg_relation_size(c.oid)) / 8192, 1)::float8
  FROM pg_class c
  LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
 WHERE c.relkind = 'r' AND coalesce(i.inhparent, c.oid) = %s::regclass
"""


def weigh(tally: PruningTally) -> int:
    """Return the approximate size of the tally's rows, in bytes; 0 for logs.

    Pruning clears the logs but keeps their rows.
    """
    counts = {tally.kind: tally.rows, **tally.parts}
    return round(sum(_each(kind) * number for kind, number in counts.items() if number))


def _each(kind: str) -> float:
    model = KINDS[kind].model if kind in KINDS else MODELS.get(kind)
    if model is None:
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute(SIZE, [model._meta.db_table])
        row = cursor.fetchone()
    return float(row[0]) if row else 0.0
