"""Send entries: many steps in one transaction, other entries one by one.

The transaction that sends an entry also records it, so after a crash the entry is either sent and
recorded, or not sent.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db import OperationalError

from dlq.public.models import DeadLetterEntry, Resolution
from dlq.public.resolving import (
    DeadStep,
    GoneHome,
    goes_alone,
    requeue,
    requeue_many,
    requeue_together,
    yielding,
)
from executions.public import payload_store
from executions.public.access import Actor
from executions.public.database import is_locked, transaction
from executions.public.errors import ConcurrencyConflict, QuotaExceeded, ValkyrError, WrongState
from executions.public.models import ExecutionState, WorkflowExecution
from executions.public.payload_store import PayloadStoreUnavailable
from executions.public.starting import StoredInput
from executions.public.templates import Allowance, TimeSpent
from runners.public.forks import ForkRequest, Overrides, fork_execution, merged_payload
from runners.public.repair import put_changes
from valkyr_plugins.redrive import items, patching
from valkyr_plugins.redrive.items import Queued, Sent
from valkyr_plugins.redrive.models import ItemState, Redrive, RedriveItem, RedriveScope
from valkyr_plugins.redrive.options import LATEST, NEEDS_FORKS, PINNED, InvalidRedrive
from valkyr_plugins.redrive.progress import allowed

BATCH = 100
# Levels by which the priority of redriven work is lower, because live work takes precedence.
YIELDS = 2
# CPU time, in seconds, for the expressions of a batch. One process handles the redrives of all
# workspaces.
EXPRESSION_SECONDS = 0.1
# States in which no step of the execution can run again.
ENDED: dict[str, str] = {
    ExecutionState.SUCCESS: "succeeded",
    ExecutionState.CANCELLED: "was cancelled",
    ExecutionState.TIMEOUT: "timed out",
}
NOT_NEWEST = "The step has run again since, or the run was rolled back."


@dataclass(slots=True)
class Batch:
    """The result of a batch; `last` is the ID of the last item taken from the queue, or None."""

    sent: int = 0
    skipped: int = 0
    last: int | None = None
    one_by_one: list[Queued] = field(default_factory=list)


def send_batch(redrive_id: UUID, after: int) -> Batch | None:
    """Send or skip the next items after the ID `after`, as pace and limits allow.

    The caller sends the items in `one_by_one`. Return None if the redrive is locked or not running,
    or if its changes cannot be stored. In the last case, the reason is stored with the next item.
    """
    try:
        changes = _stored_changes(redrive_id)
    except PayloadStoreUnavailable as error:
        items.hold_next(redrive_id, error.message)
        return None
    with transaction.atomic():
        redrive = items.running(redrive_id)
        if redrive is None:
            return None
        most = allowed(redrive)
        batch = Batch()
        if most:
            queue = items.queued(redrive, after=after, most=min(most, BATCH))
            if queue:
                batch.last = queue[-1].id
                _send(redrive, queue, batch, changes)
        items.save(redrive)
    return batch


def actor_of(redrive: Redrive) -> Actor:
    """Return the redrive's creator as the actor of its requeues and forks."""
    return Actor(redrive.created_by_id, redrive.created_by_name, "redrive")


def cannot_go(redrive: Redrive, item: Queued) -> str | None:
    """Return the reason why the item can no longer be sent; None if it can."""
    if item.resolution != Resolution.PENDING:
        return f"The dead letter was {item.resolution.lower()} after the redrive began."
    ended = ENDED.get(item.execution_state)
    if redrive.scope == RedriveScope.STEP and ended:
        return (
            f"The execution {ended}. A step can run again only in a running, "
            "paused or failed execution. Redrive the whole execution instead."
        )
    return None


def patches_of(redrive: Redrive, queue: Sequence[Queued]) -> dict[UUID, patching.Patched]:
    """Return each entry's patch, keyed by entry ID; {} if no inputs are changed.

    If expressions take too long, later entries are omitted, but never the first.
    """
    patcher = patching.patcher(redrive)
    if patcher is None:
        return {}
    rows = DeadLetterEntry.objects.filter(pk__in=[item.entry_id for item in queue])
    if patching.needs_payload(redrive):
        rows = rows.select_related("execution").only(
            *patching.COLUMNS, "original_inputs", "execution__trigger_payload",
            "execution__version_id",
        )  # fmt: skip
    else:
        rows = rows.only(*patching.COLUMNS, "original_inputs")
    entries = {entry.pk: entry for entry in rows}
    found: dict[UUID, patching.Patched] = {}
    allowance = Allowance(EXPRESSION_SECONDS, workers=True)
    with suppress(TimeSpent):
        for item in queue:
            if item.entry_id in entries:
                with allowance.rendering():
                    found[item.entry_id] = patcher(entries[item.entry_id])
    return found


def _stored_changes(redrive_id: UUID) -> StoredInput | None:
    """Store a redrive's overrides of steps if they are large.

    Return the StoredInput, or None if nothing was stored. Raises PayloadStoreUnavailable and the
    errors of sealing.
    """
    if not payload_store.enabled():
        return None
    rows = Redrive.objects.exclude(scope=RedriveScope.EXECUTION).filter(overrides__isnull=False)
    redrive = rows.only("workspace_id", "overrides").filter(pk=redrive_id).first()
    if redrive is None:
        return None
    found = put_changes(redrive.workspace_id, None, redrive.overrides, _keep_session)
    return found if isinstance(found, StoredInput) else None


def _keep_session() -> None:
    """Keep the database connection, which holds the driver's lock, while a payload is stored."""


def _send(redrive: Redrive, queue: list[Queued], batch: Batch, changes: StoredInput | None) -> None:
    out: list[tuple[int, str]] = []
    ready: list[Queued] = []
    patches = patches_of(redrive, queue)
    if patches:
        last = max(n for n, item in enumerate(queue) if item.entry_id in patches)
        queue = queue[: last + 1]
        batch.last = queue[-1].id
    for item in queue:
        reason = cannot_go(redrive, item) or _refused(redrive, patches.get(item.entry_id))
        if reason is None:
            ready.append(item)
        else:
            out.append((item.id, reason))
    if redrive.scope != RedriveScope.STEP or (ready and goes_alone(redrive.workspace_id)):
        batch.one_by_one = ready
    else:
        batch.one_by_one = [item for item in ready if item.careful]
        together = [item for item in ready if not item.careful]
        out += _send_together(redrive, together, _with_stored(patches, changes), batch)
    items.skip(redrive, out)
    batch.skipped = len(out)


def _refused(redrive: Redrive, patched: patching.Patched | None) -> str | None:
    if patched is None or not patched.problems:
        return None
    if redrive.expression:
        # The error's text may contain values, but all users can read the reasons.
        return "The expression's result is not valid. The preview gives the reason."
    return f"The changed inputs are not valid: {'; '.join(patched.problems)}."


def _send_together(
    redrive: Redrive, queue: list[Queued], patches: dict[UUID, patching.Patched], batch: Batch
) -> list[tuple[int, str]]:
    """Send the steps that can be sent now; return the IDs of outdated items, with reasons.

    Locked items remain queued for the next turn.
    """
    by_entry = {item.entry_id: item for item in queue}
    done = requeue_together(
        [_dead_step(item, patches) for item in queue],
        workspace_id=redrive.workspace_id,
        actor=actor_of(redrive),
        notes=redrive.reason,
        yields=YIELDS,
        object_type=Redrive.AUDITED_AS,
        object_id=redrive.pk,
    )
    sent = [
        items.Sent(by_entry[entry].id, run_id, by_entry[entry].execution_id)
        for entry, run_id in done.runs.items()
    ]
    items.send(redrive, sent)
    batch.sent = len(sent)
    return [(by_entry[entry].id, NOT_NEWEST) for entry in done.outdated]


def _with_stored(
    patches: dict[UUID, patching.Patched], changes: StoredInput | None
) -> dict[UUID, patching.Patched]:
    """Return the patches, with the stored changes in place of each entry's equal patch."""
    if changes is None:
        return patches
    return {entry: replace(patched, patch=changes) for entry, patched in patches.items()}


def _dead_step(item: Queued, patches: dict[UUID, patching.Patched]) -> DeadStep:
    patched = patches.get(item.entry_id)
    return DeadStep(
        entry_id=item.entry_id,
        run_id=item.run_id,
        execution_id=item.execution_id,
        new_key=item.error_type == "PERMANENT",
        overrides=patched.patch if patched else None,
    )


# Send entries one by one, each in its own transaction.
#
# This applies to new executions, and to steps of executions that need other locks before their own
# (a slot of a limited workspace, a concurrency key). Lock order: redrive, workspace, keys,
# executions, dead letters.


# Maximum number of an execution's entries that are requeued as one new execution.
MOST_TOGETHER = 1_000


def send_one(redrive_id: UUID, item: Queued) -> bool | None:
    """Send an item, or skip it with the error. Return True unless it is locked or was already sent.

    Return None if no item can be sent now: the redrive is locked or not running, or a limit or the
    payload store prevents it. The reason for an exceeded limit or an unavailable store is stored
    with the item.
    """
    try:
        payload, refused = _changed_payload(redrive_id, item)
        changes = _stored_changes(redrive_id)
        with transaction.atomic():
            redrive = items.running(redrive_id)
            if redrive is None or not allowed(redrive):
                return None
            if refused:
                items.skip(redrive, [(item.id, refused)])
                moved = True
            else:
                moved = _try(redrive, item, payload, changes)
            items.save(redrive)
            return moved
    except (QuotaExceeded, ConcurrencyConflict, PayloadStoreUnavailable) as error:
        items.hold(item.id, error.message)
        return None
    except OperationalError as error:
        if not is_locked(error):
            raise  # the database itself failed; the next turn tries again
        return False


def _changed_payload(redrive_id: UUID, item: Queued) -> tuple[Any, str]:
    """Return the changed payload for a new execution, and an error ("" for none).

    The payload is None after an error, or if it needs no preparation before the transaction.
    """
    if not payload_store.enabled():
        return None, ""
    redrive = Redrive.objects.get(pk=redrive_id)
    if redrive.scope != RedriveScope.EXECUTION or not (redrive.overrides or redrive.expression):
        return None, ""
    patched = patches_of(redrive, [item]).get(item.entry_id)
    if patched is None or patched.checked or patched.problems:
        return None, ""
    execution = WorkflowExecution.objects.only("workspace_id", "trigger_payload").get(
        pk=item.execution_id
    )
    try:
        changed = merged_payload(
            execution.workspace_id, execution.trigger_payload, patched.patch, _keep_session
        )
    except PayloadStoreUnavailable:
        raise
    except ValkyrError as error:
        return None, error.message
    return changed, ""


def _try(redrive: Redrive, item: Queued, payload: Any, changes: StoredInput | None) -> bool:
    if not RedriveItem.objects.filter(pk=item.id, state=ItemState.QUEUED).exists():
        return False  # already sent with another entry of its execution
    patched = _with_stored(patches_of(redrive, [item]), changes).get(item.entry_id)
    try:
        # A savepoint, so that a rejected item leaves only its reason.
        with transaction.atomic():
            if redrive.scope == RedriveScope.STEP:
                _step(redrive, item, patched)
            else:
                _anew(redrive, item, patched, payload)
    except (QuotaExceeded, ConcurrencyConflict, PayloadStoreUnavailable):
        raise
    except ValkyrError as error:
        items.skip(redrive, [(item.id, error.message)])
    return True


def _step(redrive: Redrive, item: Queued, patched: patching.Patched | None) -> None:
    run = requeue(
        item.entry_id,
        actor=actor_of(redrive),
        overrides=patched.patch if patched else None,
        reason=redrive.reason,
        yields=YIELDS,
    )
    items.send(redrive, [Sent(item.id, run.pk, item.execution_id)])


def _anew(redrive: Redrive, item: Queued, patched: patching.Patched | None, payload: Any) -> None:
    """Fork the item's execution once, for all queued entries of that execution (at most 1,000).

    The new execution begins at the start or right before a step, depending on the scope, with the
    item's changes. Raises InvalidRedrive if forks are not available, and WrongState.
    """
    if not fork_execution.provided:
        raise InvalidRedrive(NEEDS_FORKS, [])
    together = _of_execution(redrive, item)
    step = "" if redrive.scope == RedriveScope.EXECUTION else redrive.from_step or item.step_path
    priority = WorkflowExecution.objects.values_list("priority", flat=True).get(
        pk=item.execution_id
    )
    wanted = ForkRequest(
        item.execution_id,
        step_path=step or None,
        version=_version(redrive),
        overrides=_overrides(step, patched),
        reason=redrive.reason,
        priority=yielding(priority, YIELDS),
        payload=payload,
    )
    made = fork_execution(wanted, actor_of(redrive))
    gone = [GoneHome(entry_id, execution_id=made.pk) for _, entry_id in together]
    moved = requeue_many(
        gone,
        actor=actor_of(redrive),
        notes=redrive.reason,
        workspace_id=redrive.workspace_id,
        object_type=Redrive.AUDITED_AS,
        object_id=redrive.pk,
    )
    if item.entry_id not in moved:
        raise WrongState("The dead letter was resolved in the meantime.", Resolution.PENDING)
    items.send(redrive, [Sent(pk, None, made.pk) for pk, entry in together if entry in moved])


def _of_execution(redrive: Redrive, item: Queued) -> Sequence[tuple[int, UUID]]:
    """Return up to 1,000 queued items of the execution as (item ID, entry ID), `item` first."""
    rows = RedriveItem.objects.filter(
        redrive=redrive, state=ItemState.QUEUED, entry__execution_id=item.execution_id
    )
    found = rows.order_by("pk").values_list("pk", "entry_id")[:MOST_TOGETHER]
    return [(item.id, item.entry_id), *(pair for pair in found if pair[0] != item.id)]


def _version(redrive: Redrive) -> str | int:
    return redrive.version if redrive.version in {PINNED, LATEST} else int(redrive.version)


def _overrides(step: str, patched: patching.Patched | None) -> Overrides:
    if patched is None or not patched.patch:
        return Overrides()
    return Overrides(steps={step: patched.patch}) if step else Overrides(input=patched.patch)
