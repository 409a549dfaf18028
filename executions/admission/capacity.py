"""Capacity: how many executions of a workspace may be active, and which are admitted next.

Admission does not lock an unlimited workspace. In a limited workspace, starts and admissions lock
the workspace's row, so that the limit is never exceeded. An execution whose runs all wait gives up
its slot (`release_slot`) and requests one again when it resumes (`request_slot`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any
from uuid import UUID

from django.db.models import Case, When
from django.db.models.functions import Coalesce

from executions import ports
from executions.admission import concurrency
from executions.admission.concurrency import ConcurrencyKey
from executions.database import statements, transaction
from executions.database.clock import ClockTimestamp, Deadline
from executions.errors import QuotaExceeded, WorkspaceArchived
from executions.events import execution_admitted, execution_roused
from executions.models import Tier, WorkflowExecution, Workspace
from executions.quotas import Ceilings, ceilings
from executions.quotas.counting import Counter, Window, present
from executions.states import CapacityState, ExecutionState, QuotaWindow

BATCH = 100


@dataclass(frozen=True, slots=True)
class Admitted:
    """An execution that this transaction admits.

    If `fresh`, it has not run before.
    """

    execution_id: UUID
    version_id: UUID
    priority: int
    epoch: int
    fresh: bool


def admitted(execution: WorkflowExecution, *, fresh: bool) -> Admitted:
    """Return the `Admitted` of an execution, with the values that the runners need."""
    return Admitted(execution.pk, execution.version_id, execution.priority, execution.epoch, fresh)


def announce(executions: Sequence[Admitted], sender: Any) -> None:
    """Start the executions that this transaction admitted, and send `execution_admitted`."""
    ports.begin(executions)
    execution_admitted.send(sender, executions=executions)


def hold(workspace_id: UUID, user_id: Any) -> Ceilings:
    """Return the limits of a workspace and user; lock a workspace with limited slots or queueing.

    Call it inside a transaction, before any other lock. Raises WorkspaceArchived.
    """
    found = unlocked(workspace_id, user_id)
    if found.max_concurrent is None and found.max_pending is None:
        return found
    lock_workspace(workspace_id)
    return unlocked(workspace_id, user_id)


def unlocked(workspace_id: UUID, user_id: Any) -> Ceilings:
    """Return the limits for a workspace and a user, without a lock. Raises WorkspaceArchived."""
    found = ceilings(workspace_id, user_id)
    if found.archived:
        raise WorkspaceArchived
    return found


def take_places(tier: Ceilings, workspace_id: UUID, ready: Sequence[bool]) -> list[bool]:
    """Return, for each new execution, whether it runs immediately; waiting executions go first.

    `ready` says which new executions may run immediately if slots are free. `tier` comes from
    `hold`.
    """
    if tier.max_concurrent is None:
        return list(ready)
    free = min(sum(ready), tier.max_concurrent - active(workspace_id))
    if free > 0 and _candidates(workspace_id, 1):
        # Executions still wait although slots are free, because no execution has ended since. Admit
        # them after the commit, and the new ones after them.
        transaction.on_commit(partial(admit, workspace_id), robust=True)
        free = 0
    numbers = accumulate(ready)
    return [each and number <= free for each, number in zip(ready, numbers, strict=True)]


def check_waiting(tier: Ceilings, workspace_id: UUID, more: int) -> None:
    """Raise QuotaExceeded if `more` executions would exceed the limit on waiting executions."""
    if tier.max_pending is None or not more:
        return
    count = waiting(workspace_id, tier.max_pending + 1)
    if count + more > tier.max_pending:
        raise QuotaExceeded(
            f"{count} executions already wait in this workspace; its tier ({tier.tier}) allows "
            f"{tier.max_pending}. Try again when some have ended.",
            retry_after=30,
        )


def lock_workspace(workspace_id: UUID) -> None:
    """Lock the workspace's row until the transaction ends; admission and member changes use it."""
    list(
        Workspace.objects.select_for_update(no_key=True)
        .filter(pk=workspace_id)
        .values_list("pk", flat=True)
    )


def active(workspace_id: UUID) -> int:
    """Return the number of root executions of a workspace that hold a slot."""
    [(count,)] = statements.fetch("count_held_slots", {"workspace": workspace_id})
    return int(count)


def waiting(workspace_id: UUID, most: int) -> int:
    """Return the number of waiting executions in a workspace.

    Executions with a key and executions without a key are counted up to `most` each.
    """
    rows = WorkflowExecution.objects.filter(
        workspace_id=workspace_id, state=ExecutionState.PENDING
    ).order_by()
    # Two counts, because executions with and without a key have separate indexes.
    return sum(
        rows.filter(concurrency_key__isnull=keyless)[:most].count() for keyless in (True, False)
    )


def limited(workspace_id: UUID) -> bool:
    """Return whether the workspace's tier limits the number of simultaneous executions."""
    return Tier.objects.filter(workspaces=workspace_id, max_concurrent__isnull=False).exists()


def admit(workspace_id: UUID, key: ConcurrencyKey | None = None) -> int:
    """Admit executions while slots are free: the highest priority first, then the oldest.

    At equal priority, resumed executions come before those that wait to start. With `key`, only
    executions with that key are considered. Returns how many were admitted, at most 100 per call.
    """
    with transaction.atomic():
        free = _room(workspace_id)
        found = _candidates(workspace_id, free, key) if free > 0 else []
        if not found:
            return 0
        concurrency.lock({item.key for item in found if item.key is not None})
        chosen = _chosen(found)
        if chosen:
            _begin(chosen)
            _give_places([row for row in chosen if row.state != ExecutionState.PENDING])
        return len(chosen)


def admit_next(ended_id: UUID) -> None:
    """Admit executions that waited for the slot or key of an ended or suspended execution."""
    row = statements.fetch_one("freed_capacity", {"ended": ended_id})
    if row is None:
        return
    workspace_id, workflow_id, key, counted = row
    admit(workspace_id, None if counted else ConcurrencyKey(workflow_id, key))


def release_slot(*execution_ids: UUID) -> None:
    """Free the slots of fully suspended executions until an event or timer resumes them.

    The caller holds the executions' locks, and has checked that all their live runs wait, and that
    no run waits for a child. After the commit, other waiting executions can get the slots.
    """
    (freed,) = _about(execution_ids, "release_slot")
    admitting = {workspace_id: pk for pk, workspace_id, limited in freed if limited}
    for execution_id in admitting.values():
        transaction.on_commit(partial(admit_next, execution_id), robust=True)


def request_slot(execution_ids: Collection[UUID]) -> None:
    """Request slots for executions that gave up their slots and now resume.

    Call it in the transaction that resumes them, before runs are locked; it locks the executions.
    After the commit they get slots when some are free; until then no worker claims their runs.
    """
    _, woken = _about(execution_ids, "lock_waking_executions", "request_slot")
    for workspace_id in {workspace for workspace, place in woken if place == CapacityState.WANTED}:
        transaction.on_commit(partial(admit, workspace_id), robust=True)


def _about(execution_ids: Collection[UUID], *names: str) -> list[list[tuple[Any, ...]]]:
    """Run statements on these executions in one round trip; return the rows of each statement."""
    params = {"ids": list(execution_ids)}
    return statements.fetch_together([(name, params) for name in names])


def set_running(ids: list[UUID]) -> None:
    """Move locked rows from PENDING to RUNNING, which starts the executions' timeouts."""
    WorkflowExecution.objects.filter(pk__in=ids, state=ExecutionState.PENDING).update(
        state=ExecutionState.RUNNING,
        started_at=Coalesce("started_at", ClockTimestamp()),
        deadline_at=Case(When(compensation="", then=Deadline("timeout_seconds"))),
    )


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A candidate for admission; `key` is None if the execution has no key or holds it already."""

    id: UUID
    key: ConcurrencyKey | None


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A locked candidate with its current values."""

    admitted: Admitted
    state: str
    limit: int | None


def _room(workspace_id: UUID) -> int:
    """Return how many executions to admit now, at most 100; lock a workspace with limited slots."""
    if not limited(workspace_id):
        return BATCH
    lock_workspace(workspace_id)
    ceiling = Tier.objects.get(workspaces=workspace_id).max_concurrent
    return BATCH if ceiling is None else min(BATCH, ceiling - active(workspace_id))


def _candidates(
    workspace_id: UUID, places: int, key: ConcurrencyKey | None = None
) -> list[_Candidate]:
    params: dict[str, Any] = {"workspace": workspace_id, "places": places}
    if key is None:
        rows = statements.fetch("candidates", params)
    else:
        rows = statements.fetch(
            "candidates_for_key", params | {"workflow": key.workflow_id, "key": key.text}
        )
    return [
        _Candidate(pk, None if woke or text is None else ConcurrencyKey(workflow_id, text))
        for pk, workflow_id, text, woke in rows
    ]


def _chosen(candidates: list[_Candidate]) -> list[_Chosen]:
    """Lock candidates; return those that need no concurrency key or whose key has capacity."""
    rows = statements.fetch("lock_candidates", {"ids": [item.id for item in candidates]})
    locked = {
        pk: _Chosen(Admitted(pk, version_id, priority, epoch, fresh), state, limit)
        for pk, version_id, priority, epoch, fresh, state, limit in rows
    }
    uses = concurrency.uses({item.key for item in candidates if item.key is not None})
    held = {key: use.holders for key, use in uses.items()}
    chosen = []
    for item in candidates:
        row = locked.get(item.id)
        if row is None:
            continue
        if item.key is not None:
            if held[item.key] >= (row.limit or 1):
                continue
            held[item.key] += 1
        chosen.append(row)
    return chosen


def _begin(chosen: list[_Chosen]) -> None:
    waiting = [row.admitted for row in chosen if row.state == ExecutionState.PENDING]
    if waiting:
        set_running([item.execution_id for item in waiting])
        statements.run_together(ports.first_runs([item for item in waiting if item.fresh]))
        announce(waiting, Workspace)


def _give_places(chosen: list[_Chosen]) -> None:
    """Give the chosen executions their slots (WANTED becomes HELD), and resume the RUNNING ones."""
    ids = [row.admitted.execution_id for row in chosen]
    if not ids:
        return
    WorkflowExecution.objects.filter(pk__in=ids).update(place=CapacityState.HELD)
    running = [row.admitted.execution_id for row in chosen if row.state == ExecutionState.RUNNING]
    execution_roused.send(Workspace, execution_ids=running)


# A workspace's current use of its limits.


# Maximum number of waiting executions that are counted, because a workspace's tier may not limit
# them.
MOST_COUNTED = 100_000


@dataclass(frozen=True, slots=True)
class WorkspaceUsage:
    """The numbers of running and waiting executions, and the starts this hour and today (UTC).

    `running` counts the root executions that hold a slot. The limits of `hour` and `day` are the
    tier's limits or the workspace's own quota, whichever is lower.
    """

    workspace_id: UUID
    tier: Tier
    running: int
    pending: int
    hour: Window
    day: Window


def usage_of(workspace_id: UUID) -> WorkspaceUsage:
    """Return a workspace's usage. Uses seven queries."""
    limits = {limit.window: limit.most for limit in ceilings(workspace_id).limits}
    counter = Counter(workspace_id, None)
    counters = present([counter])
    return WorkspaceUsage(
        workspace_id,
        Tier.objects.get(workspaces=workspace_id),
        active(workspace_id),
        waiting(workspace_id, MOST_COUNTED),
        *(counters.window(counter, name, limits.get(name)) for name in QuotaWindow),
    )
