"""Create, claim, advance and end backtests. Only this module writes their state.

Each write requires an allowed state. A worker's writes also require its token, so a worker that
lost its lease changes nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet

from executions.public.access import Actor, record
from executions.public.configuration import read
from executions.public.database import ClockTimestamp, database_now, transaction
from executions.public.errors import NotFound, QuotaExceeded, WrongState
from executions.public.messaging import send
from executions.public.models import VersionKind, Workflow, WorkflowExecution
from executions.public.publishing import versioning
from executions.public.sealing import share_key, stored
from valkyr_plugins.backtest.conf import BacktestSettings
from valkyr_plugins.backtest.groups import Summary
from valkyr_plugins.backtest.models import (
    UNFINISHED,
    Backtest,
    BacktestResult,
    BacktestSource,
    BacktestState,
)

WORK = "valkyr_backtest.work"
QUEUE = "default"
MOST = 10_000  # maximum executions of one backtest
DEFAULT = 100
# Maximum number of unfinished backtests in one workspace, because they use the same workers as all
# steps.
MOST_UNFINISHED = 5
LEASE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktestWish:
    """The definition to compare, and the executions to compare it with.

    Without `version` and `definition`, the draft is compared. `selection` can limit the executions
    by `states`, `from`, `until` (ISO 8601) and `version`. Only the newest executions are compared,
    at most `most`.
    """

    version: int | None = None
    definition: Mapping[str, Any] | None = None
    most: int = DEFAULT
    selection: Mapping[str, Any]


def create(workflow_id: UUID, wish: BacktestWish, *, actor: Actor) -> Backtest:
    """Create a backtest; a worker begins it after the commit.

    Raises NotFound, QuotaExceeded or InvalidDefinition.
    """
    with transaction.atomic():
        workflow = Workflow.objects.filter(pk=workflow_id, archived_at=None).first()
        if workflow is None:
            raise NotFound(f"There is no workflow {workflow_id}.")
        _refuse_too_many(workflow.workspace_id)
        made = Backtest.objects.create(
            workspace_id=workflow.workspace_id,
            workflow=workflow,
            source=_source(workflow, wish),
            version=wish.version,
            revision=workflow.revision,
            definition=_definition(workflow, wish),
            selection=dict(wish.selection),
            most=wish.most,
            created_by_name=actor.name[:200],
            created_at=database_now(),
        )
        _note(made, "backtest.start", actor, {"most": made.most, **made.selection})
        transaction.on_commit(partial(request_work, made.pk), robust=True)
    return made


def cancel(backtest_id: UUID, *, actor: Actor, reason: str = "") -> Backtest:
    """Cancel a backtest; its results so far are kept. Raises NotFound or WrongState."""
    with transaction.atomic():
        found = Backtest.objects.select_for_update(no_key=True).filter(pk=backtest_id).first()
        if found is None:
            raise NotFound(f"There is no backtest {backtest_id}.")
        if found.state not in UNFINISHED:
            raise WrongState(f"Backtest {backtest_id} has ended: {found.state}.", found.state)
        found.state, found.finished_at = BacktestState.CANCELLED, database_now()
        found.save(update_fields=["state", "finished_at"])
        _note(found, "backtest.cancel", actor, {}, reason)
    return found


def request_work(backtest_id: UUID) -> None:
    """Send a backtest to a worker; if the message is lost, the task `resend` sends it again."""
    send(WORK, (str(backtest_id),), QUEUE)


# The changes that workers make.


def claim(backtest_id: UUID) -> Backtest | None:
    """Claim and return a backtest; None if another worker holds it, or if it has ended."""
    free = Q(leased_until=None) | Q(leased_until__lte=database_now())
    with transaction.atomic():
        rows = Backtest.objects.select_for_update(no_key=True, skip_locked=True)
        found = rows.filter(free, pk=backtest_id, state__in=UNFINISHED).first()
        if found is None:
            return None
        now = database_now()
        found.state = BacktestState.RUNNING
        found.started_at = found.started_at or now
        found.token += 1
        found.leased_until = now + LEASE
        found.save(update_fields=["state", "started_at", "token", "leased_until"])
    return found


def set_total(backtest: Backtest, total: int) -> bool:
    """Store the number of executions to compare; return False if the claim has ended."""
    backtest.total = total
    return _held(backtest).update(total=total) == 1


def advance(
    backtest: Backtest,
    last: WorkflowExecution,
    results: Sequence[BacktestResult],
    summary: Summary,
) -> bool:
    """Store the results of a batch and renew the lease; return False if the claim has ended."""
    with transaction.atomic():
        share_key([backtest, *results])
        values = stored(backtest, groups=summary.as_json())
        moved = _held(backtest).update(
            at=last.pk,
            at_time=last.created_at,
            done=F("done") + len(results),
            counts=dict(summary.executions),
            by_step=summary.by_step(),
            leased_until=database_now() + LEASE,
            **values,
        )
        if moved:
            BacktestResult.objects.bulk_create(results)
    backtest.at, backtest.at_time = last.pk, last.created_at
    backtest.done += len(results)
    return moved == 1


def release(backtest: Backtest) -> None:
    """End the worker's claim on a backtest, so that another worker can continue."""
    _held(backtest).update(leased_until=None)


def finish(backtest: Backtest, error: str = "") -> None:
    """End a backtest; with an error, its state is FAILED."""
    _held(backtest).update(
        state=BacktestState.FAILED if error else BacktestState.DONE,
        error=error,
        leased_until=None,
        finished_at=ClockTimestamp(),
    )


def _held(backtest: Backtest) -> QuerySet[Backtest]:
    return Backtest.objects.filter(
        pk=backtest.pk, token=backtest.token, state=BacktestState.RUNNING
    )


def _source(workflow: Workflow, wish: BacktestWish) -> BacktestSource:
    if wish.version is not None:
        return BacktestSource.VERSION
    is_draft = wish.definition in (None, workflow.definition)
    return BacktestSource.DRAFT if is_draft else BacktestSource.DEFINITION


def _definition(workflow: Workflow, wish: BacktestWish) -> dict[str, Any]:
    if wish.version is None:
        given = workflow.definition if wish.definition is None else wish.definition
        return versioning.resolved(workflow, given)
    rows = workflow.versions.filter(number=wish.version, kind=VersionKind.PUBLISHED)
    found: dict[str, Any] | None = rows.values_list("definition", flat=True).first()
    if found is None:
        raise NotFound(f"Workflow {workflow.name!r} has no published version {wish.version}.")
    return found


def _refuse_too_many(workspace_id: UUID) -> None:
    running = Backtest.objects.filter(workspace_id=workspace_id, finished_at=None)
    if running.count() >= MOST_UNFINISHED:
        raise QuotaExceeded(
            f"The workspace has {MOST_UNFINISHED} unfinished backtests. Cancel one, or wait until "
            "one has finished.",
            retry_after=10,
        )


def _note(
    backtest: Backtest, action: str, actor: Actor, about: Mapping[str, Any], reason: str = ""
) -> None:
    record(
        actor,
        action,
        workspace_id=backtest.workspace_id,
        object_type=Backtest.AUDITED_AS,
        object_id=backtest.pk,
        reason=reason,
        details={"workflowId": str(backtest.workflow_id), "source": backtest.compared, **about},
    )


# Delete old backtests.


EXPIRED_AT_ONCE = 20


def expire() -> int:
    """Delete expired backtests and their results; return the number of backtests."""
    days = read(BacktestSettings).backtest_retention_days
    old = Backtest.objects.filter(created_at__lt=database_now() - timedelta(days=days))
    count = 0
    while found := list(old.order_by("created_at").values_list("pk", flat=True)[:EXPIRED_AT_ONCE]):
        with transaction.atomic():
            BacktestResult.objects.filter(backtest_id__in=found).delete()
            Backtest.objects.filter(pk__in=found).delete()
        count += len(found)
    return count
