"""How much of its limits a workspace uses now."""

from dataclasses import dataclass
from uuid import UUID

from executions.admission.capacity import active, waiting
from executions.models import Tier
from executions.quotas.limits import ceilings
from executions.quotas.usage import Counter, Window, present
from executions.states import QuotaWindow

# Executions that wait are counted up to here: an unlimited workspace may have any number.
MOST_COUNTED = 100_000


@dataclass(frozen=True, slots=True)
class WorkspaceUsage:
    """What runs and waits, and what was started in this hour and today (UTC).

    `running` are the root executions that hold a place. The limits of `hour` and `day` are the
    tighter ones of the tier and of the workspace's own quota.
    """

    workspace_id: UUID
    tier: Tier
    running: int
    pending: int
    hour: Window
    day: Window


def usage_of(workspace_id: UUID) -> WorkspaceUsage:
    """A workspace's usage; seven queries."""
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
