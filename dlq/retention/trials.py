"""Delete test versions, and their finished executions, some time after the versions' creation.

The executions are deleted in whole families, as in other pruning, but by the age of their test
version. A version is deleted when it has no executions left.
"""

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from dlq.retention import executions, periods
from dlq.retention.batches import PruningPace, PruningTally
from dlq.retention.periods import RetentionPeriods, older_than
from executions.models import WorkflowExecution, WorkflowVersion
from executions.states import VersionKind
from executions.vendor_seams.django_deletion import delete_without_cascade

KIND = "tests"
AT_ONCE = 200


def prune(wanted: RetentionPeriods, pace: PruningPace) -> PruningTally:
    """Delete the versions that are due, the oldest first, with their executions; return a tally."""
    tally = PruningTally(KIND)
    for versions, before in _batches(wanted):
        runs = PruningTally("executions")
        executions.clear(_roots(versions, before), _aged(wanted, before), before, pace, runs)
        _take_in(tally, runs)
        if not runs.more:
            _drop(versions, pace, tally)
        if runs.more or pace.over:
            tally.more = True
            break
    return tally


def look(wanted: RetentionPeriods, pace: PruningPace) -> PruningTally:
    """Return the tally of the rows that `prune` would delete."""
    tally = PruningTally(KIND)
    for versions, before in _batches(wanted):
        runs, roots = PruningTally("executions"), _roots(versions, before)
        kept = executions.look_at(roots, _aged(wanted, before), before, runs)
        _take_in(tally, runs)
        rows = WorkflowExecution.objects.filter(version__in=versions)
        left = rows.exclude(pk__in=set(roots) - kept).values_list("version", flat=True)
        _note(tally, versions, set(versions) - set(left))
        if pace.over:
            tally.more = True
            break
    return tally


def _batches(wanted: RetentionPeriods) -> Iterator[tuple[dict[UUID, datetime], datetime]]:
    """Yield batches of due versions: creation times by ID, and the upper limit of these times."""
    before = wanted.before(periods.test_days())
    last: UUID | None = None
    while before is not None and not wanted.scope.states:
        rows = _due(wanted, before)
        if last is not None:
            rows = rows.filter(pk__gt=last)
        found = dict(rows.order_by("pk").values_list("pk", "created_at")[:AT_ONCE])
        if not found:
            return
        last = max(found)
        yield found, before


def _due(wanted: RetentionPeriods, before: datetime) -> QuerySet[WorkflowVersion]:
    rows = WorkflowVersion.objects.filter(kind=VersionKind.TEST, created_at__lt=before)
    if wanted.scope.workspace_id is not None:
        rows = rows.filter(workflow__workspace_id=wanted.scope.workspace_id)
    if wanted.scope.workflow_id is not None:
        rows = rows.filter(workflow_id=wanted.scope.workflow_id)
    return rows


def _roots(versions: dict[UUID, datetime], before: datetime) -> dict[UUID, datetime]:
    """Return, by ID, when these versions' root executions ended, if they ended before a time."""
    rows = WorkflowExecution.objects.filter(version__in=versions, finished_at__lt=before)
    rows = rows.filter(parent=None, failure_of=None)
    return {pk: at for pk, at in rows.values_list("pk", "finished_at") if at is not None}


def _aged(wanted: RetentionPeriods, before: datetime) -> RetentionPeriods:
    """Return periods that delete by the age of test versions instead of the executions' terms."""
    days = (wanted.now - before).total_seconds() / 86_400
    return older_than(days, wanted.now, wanted.scope)


def _drop(versions: dict[UUID, datetime], pace: PruningPace, tally: PruningTally) -> None:
    """Delete the given versions that have no executions left.

    The versions are locked, so that no execution of them starts during the deletion.
    """
    with pace.transaction():
        rows = WorkflowVersion.objects.filter(pk__in=versions).order_by("pk")
        held = list(rows.select_for_update(skip_locked=True).values_list("pk", flat=True))
        ran = WorkflowExecution.objects.filter(version=OuterRef("pk"))
        free = WorkflowVersion.objects.filter(pk__in=held).exclude(Exists(ran))
        ids = set(free.values_list("pk", flat=True))
        gone = WorkflowVersion.objects.filter(pk__in=ids)
        delete_without_cascade(gone)
    _note(tally, versions, ids)


def _note(tally: PruningTally, versions: dict[UUID, datetime], ids: set[UUID]) -> None:
    tally.rows += len(ids)
    for pk in ids:
        tally.span(versions[pk], versions[pk])
    if stay := len(versions) - len(ids):
        tally.kept["some of their executions remain"] += stay


def _take_in(tally: PruningTally, runs: PruningTally) -> None:
    tally.parts.update({"executions": runs.rows, "runs": runs.parts["runs"]})
