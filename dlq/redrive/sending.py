"""Entries are sent home: many steps in one transaction; what needs care is left to `one_by_one`.

An item moves in the transaction that sends its entry, so a crash leaves it either sent and
recorded, or not sent. Lock order: redrive, executions, dead letters.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction
from uuid6 import uuid7

from dlq.models import DeadLetterEntry, Redrive, RedriveScope, Resolution
from dlq.redrive import items, patching
from dlq.redrive.items import Queued
from dlq.redrive.pacing import allowed
from dlq.resolve import transitions
from dlq.resolve.requeue import yielding
from dlq.resolve.transitions import GoneHome
from executions import lifecycle as executions
from executions.access.actor import Actor
from executions.admission.capacity import limited
from executions.lifecycle import Reopenable
from runners.repair import reruns
from runners.repair.reruns import Rerun

BATCH = 100
# Live work goes first.
YIELDS = 2
NOT_NEWEST = "The step has run again since, or a roll-back has made this run history."


@dataclass(slots=True)
class Batch:
    """What one batch did; `last` is the last item it looked at, None where it may look at none."""

    sent: int = 0
    skipped: int = 0
    last: int | None = None
    one_by_one: list[Queued] = field(default_factory=list)


def send_batch(redrive_id: UUID, after: int) -> Batch | None:
    """Send the next items behind `after`, as many as pace and limits allow.

    None where the redrive does not run, or somebody else drives it.
    """
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
                _send(redrive, queue, batch)
        items.save(redrive)
    return batch


def actor_of(redrive: Redrive) -> Actor:
    """Who made it; everything it does is theirs."""
    return Actor(redrive.created_by_id, redrive.created_by_name, "redrive")


def cannot_go(redrive: Redrive, item: Queued) -> str | None:
    """Why the item cannot be sent any more."""
    if item.resolution != Resolution.PENDING:
        return f"It was {item.resolution} meanwhile."
    if redrive.scope == RedriveScope.STEP and item.execution_state in transitions.OVER:
        return (
            f"Its execution is {item.execution_state}; only a step of one that is RUNNING, PAUSED "
            "or FAILED can run again. Redrive the whole execution instead."
        )
    return None


def patches_of(redrive: Redrive, queue: Sequence[Queued]) -> dict[UUID, patching.Patched]:
    """What each entry's inputs are changed by; nothing where they stay."""
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
    return {entry.pk: patcher(entry) for entry in rows}


def _send(redrive: Redrive, queue: list[Queued], batch: Batch) -> None:
    out: list[tuple[int, str]] = []
    ready: list[Queued] = []
    patches = patches_of(redrive, queue)
    for item in queue:
        reason = cannot_go(redrive, item) or _refused(redrive, patches.get(item.entry_id))
        if reason is None:
            ready.append(item)
        else:
            out.append((item.id, reason))
    if redrive.scope != RedriveScope.STEP or (ready and limited(redrive.workspace_id)):
        batch.one_by_one = ready
    else:
        batch.one_by_one = [item for item in ready if item.careful]
        together = [item for item in ready if not item.careful]
        out += _send_together(redrive, together, patches, batch)
    items.skip(redrive, out)
    batch.skipped = len(out)


def _refused(redrive: Redrive, patched: patching.Patched | None) -> str | None:
    if patched is None or not patched.problems:
        return None
    if redrive.expression:
        # What it says may hold values, and everybody reads the reasons.
        return "What the expression gives for it does not fit; the preview says why."
    return f"The changed inputs do not fit: {'; '.join(patched.problems)}."


def _send_together(
    redrive: Redrive, queue: list[Queued], patches: dict[UUID, patching.Patched], batch: Batch
) -> list[tuple[int, str]]:
    """Send what is free now; those whose step has no next attempt, with the reason.

    Who is locked by somebody else is left as it is, and comes with the next turn.
    """
    opened = _locked(redrive, queue)
    queue = _still_open([item for item in queue if item.execution_id in opened])
    wanted = {
        item: Rerun(
            run_id=uuid7(),
            dead_run_id=item.run_id,
            execution_id=item.execution_id,
            version_id=(execution := opened[item.execution_id]).version_id,
            epoch=execution.epoch,
            priority=yielding(execution.priority, YIELDS),
            overrides=patched.patch if (patched := patches.get(item.entry_id)) else None,
            new_key=item.error_type == "PERMANENT",
        )
        for item in queue
    }
    added = reruns.again_many(list(wanted.values()))
    sent = {item: rerun for item, rerun in wanted.items() if rerun.run_id in added}
    executions.reopen_many([opened[pk] for pk in {item.execution_id for item in sent}])
    _record(redrive, sent)
    batch.sent = len(sent)
    return [(item.id, NOT_NEWEST) for item in wanted if item not in sent]


def _locked(redrive: Redrive, queue: Iterable[Queued]) -> dict[UUID, Reopenable]:
    ids = sorted({item.execution_id for item in queue})
    found = executions.lock_to_reopen(ids, workspace_id=redrive.workspace_id) if ids else []
    return {execution.id: execution for execution in found}


def _still_open(queue: Sequence[Queued]) -> list[Queued]:
    """Those whose entry is open and nobody's just now; locked, so that they stay open."""
    rows = DeadLetterEntry.objects.select_for_update(no_key=True, skip_locked=True).filter(
        pk__in=[item.entry_id for item in queue], resolution=Resolution.PENDING
    )
    open_ids = set(rows.order_by("pk").values_list("pk", flat=True))
    return [item for item in queue if item.entry_id in open_ids]


def _record(redrive: Redrive, sent: dict[Queued, Rerun]) -> None:
    if not sent:
        return
    moved = transitions.requeue_many(
        [GoneHome(item.entry_id, run_id=rerun.run_id) for item, rerun in sent.items()],
        actor=actor_of(redrive),
        notes=redrive.reason,
        workspace_id=redrive.workspace_id,
        redrive_id=redrive.pk,
    )
    assert len(moved) == len(sent), "the entries are locked and were open"
    items.send(
        redrive,
        [items.Sent(item.id, rerun.run_id, item.execution_id) for item, rerun in sent.items()],
    )
