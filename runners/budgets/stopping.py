"""The kill switch: a spent budget ends what its spender has under way."""

from collections.abc import Sequence
from uuid import UUID

from executions import lifecycle
from executions.access.actor import Actor
from executions.errors import WrongState
from executions.models import WorkflowExecution
from executions.states import ACTIVE, ExecutionState
from runners.budgets.spent import Spent

ACTOR = Actor.system("budgets")


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
        lifecycle.cancel(
            execution_id, actor=ACTOR, reason=f"Budget {spent.id} is spent. {spent.sentence}"
        )
    except WrongState:
        return 0
    return 1
