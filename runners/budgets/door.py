"""Nothing starts for a spender whose budget has a kill switch and is spent."""

from typing import Any
from uuid import UUID

from django.dispatch import receiver

from executions.events import executions_asked
from runners.budgets.errors import SpenderStopped
from runners.budgets.known import known
from runners.budgets.spent import spent_of


@receiver(executions_asked)
def refuse(sender: Any, workspace_id: UUID, user_id: int | None, **_: Any) -> None:
    """Raise SpenderStopped, as a quota is exceeded: schedules and queues wait, others hear a 429.

    Without kill switches in the workspace, no query.
    """
    if workspace_id not in known().killing:
        return
    spent = spent_of(workspace_id, user_id, killing=True)
    if spent is not None:
        raise SpenderStopped(spent.sentence, spent.retry_after, spent.facts)
