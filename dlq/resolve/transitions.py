"""Change the resolution of dead letters; only this module writes resolutions.

Each change is guarded by the current resolution, so it happens once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Case, F, TextField, Value, When
from django.db.models.functions import Concat

from dlq import statements
from dlq.conf import expiry, retention_days
from dlq.groups.find_group import note_news, note_of_entries
from dlq.models import DeadLetterEntry, Resolution
from executions.access.actor import Actor, record
from executions.database.clock import database_now
from executions.errors import NotFound, WrongState
from executions.models import WorkflowExecution
from executions.states import ExecutionState

# The states in which nothing can run any more. FAILED is not included, because a failed execution
# can continue with the failed step.
OVER = frozenset({ExecutionState.SUCCESS, ExecutionState.CANCELLED, ExecutionState.TIMEOUT})


def find(entry_id: UUID) -> DeadLetterEntry:
    """Return the entry without locking it. Raises NotFound if it does not exist."""
    entry = DeadLetterEntry.objects.filter(pk=entry_id).first()
    if entry is None:
        raise NotFound(f"There is no dead letter {entry_id}.")
    return entry


def must_be_open(entry: DeadLetterEntry, done: str) -> None:
    """Raise WrongState if the entry is resolved, or if its execution cannot continue.

    Call this function first, so that its error comes before others. `done` names the requested
    operation, such as "requeued".
    """
    if entry.resolution != Resolution.PENDING:
        raise WrongState(
            f"Dead letter {entry.pk} is already {entry.resolution}. Nothing was changed.",
            entry.resolution,
        )
    state = (
        WorkflowExecution.objects.filter(pk=entry.execution_id)
        .values_list("state", flat=True)
        .get()
    )
    if state in OVER:
        raise WrongState(
            f"Execution {entry.execution_id} is {state}; its steps cannot be {done}: the "
            "execution must be RUNNING, PAUSED or FAILED. Start the workflow again instead.",
            state,
        )


def resolve(
    entry: DeadLetterEntry,
    resolution: Resolution,
    *,
    actor: Actor,
    notes: str = "",
    details: Any = None,
    **changes: Any,
) -> None:
    """Change an entry's resolution from PENDING to another one, in the caller's transaction.

    Raises WrongState if the entry is already resolved, for example by another user at the same
    time, and NotFound if it was deleted.
    """
    now = database_now()
    if notes:
        changes["notes"] = f"{entry.notes}\n{notes}".strip()
    moved = DeadLetterEntry.objects.filter(pk=entry.pk, resolution=Resolution.PENDING).update(
        resolution=resolution,
        resolved_at=now,
        expires_at=expiry(now),
        reviewed_by_id=actor.user_id,
        **changes,
    )
    if moved != 1:
        present = find(entry.pk)
        raise WrongState(
            f"Dead letter {entry.pk} is already {present.resolution} (since "
            f"{present.resolved_at:%Y-%m-%d %H:%M:%S} UTC). Nothing was changed.",
            present.resolution,
        )
    note_of_entries([entry.pk], opened=-1)
    record(
        actor,
        f"dead_letter.{resolution.lower()}",
        workspace_id=entry.workspace_id,
        object_type="DeadLetterQueue",
        object_id=entry.pk,
        reason=notes,
        before={"resolution": str(Resolution.PENDING)},
        after={"resolution": str(resolution)},
        details=details,
    )


@dataclass(frozen=True, slots=True)
class GoneHome:
    """A requeued entry, with the new run of its step or the fork of its execution."""

    entry_id: UUID
    run_id: UUID | None = None
    execution_id: UUID | None = None


def requeue_many(
    gone: Sequence[GoneHome],
    *,
    actor: Actor,
    notes: str,
    workspace_id: UUID,
    object_type: str,
    object_id: UUID,
) -> set[UUID]:
    """Resolve many PENDING entries as REQUEUED in the caller's transaction; return their IDs.

    Entries that are already resolved are not changed: lock the entries first, or undo your work for
    these entries. The counters of each group change once. One record in the audit trail names all
    entries, under the object that caused the requeue.
    """
    rows = statements.fetch(
        "requeue_entries",
        {
            "ids": [one.entry_id for one in gone],
            "runs": [one.run_id for one in gone],
            "executions": [one.execution_id for one in gone],
            "days": retention_days(),
            "reviewer": actor.user_id,
            "notes": notes,
        },
    )
    if not rows:
        return set()
    for group_id, count in Counter(group for _, group in rows).items():
        note_news(group_id, opened=-count)
    record(
        actor,
        "dead_letter.requeued",
        workspace_id=workspace_id,
        object_type=object_type,
        object_id=object_id,
        reason=notes,
        details={"deadLetterIds": sorted(str(pk) for pk, _ in rows)},
    )
    return {pk for pk, _ in rows}


def restore(entry: DeadLetterEntry, *, actor: Actor, reason: str = "") -> None:
    """Change an entry's resolution from DISCARDED to PENDING, in the caller's transaction.

    The notes are kept. Raises WrongState if the entry is open or resolved in another way, or if its
    run was rolled back, and NotFound if it was deleted.
    """
    moved = DeadLetterEntry.objects.filter(
        pk=entry.pk, resolution=Resolution.DISCARDED, run__superseded=False
    ).update(resolution=Resolution.PENDING, resolved_at=None, expires_at=None, reviewed_by_id=None)
    if moved != 1:
        raise _not_restored(find(entry.pk))
    note_of_entries([entry.pk], opened=1)
    record(
        actor,
        "dead_letter.restored",
        workspace_id=entry.workspace_id,
        object_type="DeadLetterQueue",
        object_id=entry.pk,
        reason=reason,
        before={"resolution": str(Resolution.DISCARDED)},
        after={"resolution": str(Resolution.PENDING)},
    )


def _not_restored(entry: DeadLetterEntry) -> WrongState:
    if entry.resolution == Resolution.DISCARDED:
        text = "was discarded by a roll-back of its execution; it cannot be restored."
    else:
        text = f"is {entry.resolution}; only a DISCARDED one can be restored."
    return WrongState(f"Dead letter {entry.pk} {text}", entry.resolution)


def discard_superseded(execution_id: UUID, *, actor: Actor, note: str) -> int:
    """Discard the open entries of the superseded runs of an execution; return how many.

    Uses a constant number of statements. One record in the audit trail names all entries.
    """
    now = database_now()
    entries = DeadLetterEntry.objects.filter(
        execution_id=execution_id, resolution=Resolution.PENDING, run__superseded=True
    )
    # Lock the entries, so that no other transaction resolves one of them, and no entry is counted
    # twice.
    held = entries.select_for_update(no_key=True, of=("self",)).order_by("pk")
    found = list(held.values_list("pk", "workspace_id"))
    if not found:
        return 0
    ids = [pk for pk, _ in found]
    note_of_entries(ids, opened=-1)
    DeadLetterEntry.objects.filter(pk__in=ids, resolution=Resolution.PENDING).update(
        resolution=Resolution.DISCARDED,
        resolved_at=now,
        expires_at=expiry(now),
        reviewed_by_id=actor.user_id,
        notes=Case(
            When(notes="", then=Value(note)),
            default=Concat(F("notes"), Value(f"\n{note}")),
            output_field=TextField(),
        ),
    )
    record(
        actor,
        "dead_letter.discarded",
        workspace_id=found[0][1],
        object_type="WorkflowExecution",
        object_id=execution_id,
        reason=note,
        details={"deadLetterIds": [str(pk) for pk in ids]},
    )
    return len(ids)
