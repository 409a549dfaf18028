"""The signals of this app, each sent inside the transaction of its event."""

from dataclasses import dataclass
from uuid import UUID

from django.dispatch import Signal

# group_id - the first failures of a new group were counted
group_new = Signal()
# group_id, version_number - a resolved group has a new failure in the version that should resolve
# it, or later
group_regressed = Signal()
# group_id, merged_ids - failure groups will be merged into another group. The groups are not locked
# or checked yet: if the merge is rejected, the receivers' changes are rolled back, too
groups_merging = Signal()
# stopped: StoppedRedrive - too many items of a redrive failed again
redrive_stopped = Signal()


@dataclass(frozen=True, slots=True)
class StoppedRedrive:
    """A redrive that stopped because too many entries failed; `path` is the path of its page.

    `group_id` is the ID of the failure group that it redrives, or None.
    """

    redrive_id: UUID
    workspace_id: UUID
    group_id: UUID | None
    total: int
    created_by: str
    reason: str
    path: str
