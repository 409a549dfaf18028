"""What this app says of itself, inside the transaction in which it happens."""

from dataclasses import dataclass
from uuid import UUID

from django.dispatch import Signal

# group_id - the first failures of its kind were counted
group_new = Signal()
# group_id, version_number - a resolved group was seen again in a version it was resolved in
group_regressed = Signal()
# group_id, merged_ids - failure groups were merged into another one
groups_merged = Signal()
# stopped: StoppedRedrive - too many entries of a redrive failed again
redrive_stopped = Signal()


@dataclass(frozen=True, slots=True)
class StoppedRedrive:
    """A redrive that its failures stopped; `path` is the page about it.

    `group_id` is the failure group of which it was made, if it was.
    """

    redrive_id: UUID
    workspace_id: UUID
    group_id: UUID | None
    total: int
    created_by: str
    reason: str
    path: str
