"""Whether a person may repair a dead letter with other inputs, or a result by hand."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from dlq.models import DeadLetterEntry
from executions.access import powers_on_row
from executions.access.actor import Actor
from executions.access.operation import Operation
from executions.admin.scope import user_of
from runners.repair.permissions import check_repair


def checked(operation: Operation) -> Operation:
    """The operation, refused to a user who is no author where an approval was given before."""

    def apply(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> Any:
        check_entry_repair(pk, actor)
        return operation.apply(pk, actor, data)

    return replace(operation, apply=apply)


def check_entry_repair(entry_id: UUID, actor: Actor) -> None:
    """Raise Forbidden where it would follow an approval and the person is no author."""
    rows = DeadLetterEntry.objects.only("id", "execution_id", "workspace_id", "workflow_id")
    entry = rows.filter(pk=entry_id).first()
    if entry is not None:
        check_repair(powers_on_row(user_of(actor), entry), entry.execution_id)
