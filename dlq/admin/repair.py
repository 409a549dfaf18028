"""Whether a person may repair a dead letter with other inputs, or a result by hand."""

from uuid import UUID

from dlq.models import DeadLetterEntry
from executions.access import powers_on_row
from executions.access.actor import Actor
from executions.admin.scope import user_of
from runners.time_travel.fork_permissions import check_repair


def check_entry_repair(entry_id: UUID, actor: Actor) -> None:
    """Raise Forbidden where it would follow an approval and the person is no author."""
    rows = DeadLetterEntry.objects.only("id", "execution_id", "workspace_id", "workflow_id")
    entry = rows.filter(pk=entry_id).first()
    if entry is not None:
        check_repair(powers_on_row(user_of(actor), entry), entry.execution_id)
