"""The kill switch: a spent budget that has one ends what its spender has under way."""

import time
from collections.abc import Sequence
from uuid import UUID

from executions.public.access import Actor
from executions.public.errors import WrongState
from executions.public.lifecycle import cancel
from executions.public.models import ACTIVE, ExecutionState, WorkflowExecution
from runners.public.recovery import each
from valkyr_plugins.limits.budgets.spent import Spent, all_killing

ACTOR = Actor.system("budgets")
BATCH = 200
SECONDS = 0.7  # this sweep comes every second


def unfinished(spent: Spent, most: int) -> Sequence[UUID]:
    """Root executions of the spender that are not over, at most so many; those under way first."""
    rows = WorkflowExecution.objects.filter(workspace_id=spent.workspace_id, parent__isnull=True)
    if spent.user_id is not None:
        rows = rows.filter(principal_id=spent.user_id)
    found: list[UUID] = []
    # Two questions, because each has an index of its own.
    for states in (sorted(ACTIVE), [ExecutionState.PENDING.value]):
        some = rows.filter(state__in=states).order_by()
        found += some.values_list("pk", flat=True)[: most - len(found)]
    return found


def stop(execution_id: UUID, spent: Spent) -> int:
    """Cancel one of them, and its children with it; 0 when it ended meanwhile."""
    try:
        cancel(execution_id, actor=ACTOR, reason=f"Budget {spent.id} is spent. {spent.sentence}")
    except WrongState:
        return 0
    return 1


def sweep() -> int:
    """Cancel them, batch after batch while there is time; returns how many."""
    until, count = time.monotonic() + SECONDS, 0
    for spent in all_killing():
        while found := unfinished(spent, BATCH):
            cancelled = 0
            for execution_id in found:
                cancelled += each(f"spent budget {spent.id}", stop, execution_id, spent)
                if time.monotonic() > until:
                    return count + cancelled
            count += cancelled
            if not cancelled:
                break
    return count
