"""Admit executions that wait for a slot or a key; release slots that are no longer used."""

from uuid import UUID

from executions.admission import capacity, joined
from executions.database import transaction
from executions.models import WorkflowExecution
from runners import statements
from runners.recovery.duties import each

WORKSPACES = 100
ROUNDS = 20


def waiting_executions() -> int:
    """Admit executions in each workspace with waiting executions; return how many were admitted."""
    count, after = 0, UUID(int=0)
    while found := statements.fetch("waiting_workspaces", {"after": after, "batch": WORKSPACES}):
        for workspace_id, asked in found:
            admit = joined.enter if asked else _admit
            count += each(f"admission in workspace {workspace_id}", admit, workspace_id)
        after = found[-1][0]
    return count


def _admit(workspace_id: UUID) -> int:
    """Admit at most 2,000 executions, because other duties must run too; return how many."""
    count = 0
    for _ in range(ROUNDS):
        admitted = capacity.admit(workspace_id)
        count += admitted
        if admitted < capacity.BATCH:
            break
    return count


# Slots of limited workspaces: release those of sleeping executions, and request missing ones.


BATCH = 1_000


def workspace_places() -> int:
    """Request missing slots and release unused slots; return the number of executions."""
    return _rouse() + _doze()


def _rouse() -> int:
    with transaction.atomic():
        found = [pk for (pk,) in statements.fetch("executions_missing_a_slot", {"batch": BATCH})]
        if found:
            capacity.request_slot(found)
    return len(found)


def _doze() -> int:
    """Release the slots of executions whose live steps are all suspended; return how many."""
    found = statements.fetch("executions_with_unused_slot", {"ids": None, "batch": BATCH})
    seen = [pk for (pk,) in found]
    if not seen:
        return 0
    with transaction.atomic():
        list(
            WorkflowExecution.objects.select_for_update(no_key=True)
            .filter(pk__in=seen)
            .order_by("pk")
            .values_list("pk", flat=True)
        )
        # Read again under the locks, because a run may have woken meanwhile.
        found = statements.fetch("executions_with_unused_slot", {"ids": seen, "batch": BATCH})
        asleep = [pk for (pk,) in found]
        if asleep:
            capacity.release_slot(*asleep)
    return len(asleep)
