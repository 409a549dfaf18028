"""Reveal unmasked payloads; the audit trail records each use and its reason."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Model

from executions.access import workspace_id_of
from executions.access.actor import Actor, record
from executions.audit.trail import name_of
from executions.database import transaction
from executions.errors import NotFound, ValkyrError

# The attributes of an execution that can be revealed, by their API names.
EXECUTION = {
    "triggerPayload": "trigger_payload",
    "contextData": "context_data",
    "output": "output",
}


class NoReason(ValkyrError):
    """Give a reason for revealing the payloads; the audit trail records it."""

    code = "reason_required"


def reveal(
    model: type[Model], pk: UUID, fields: Mapping[str, str], *, actor: Actor, reason: str
) -> dict[str, Any]:
    """Return values of a row, unmasked, and record the use in the audit trail.

    `fields` maps the names in the result to attributes. The caller must check the permission first.
    Raises NotFound or NoReason.
    """
    if not reason.strip():
        raise NoReason
    with transaction.atomic():
        row = model._default_manager.filter(pk=pk).first()
        if row is None:
            raise NotFound(f"There is no {model._meta.verbose_name_raw} {pk}.")
        record(
            actor,
            "payload.reveal",
            workspace_id=workspace_id_of(row),
            object_type=name_of(model),
            object_id=pk,
            reason=reason.strip(),
            details={"fields": list(fields)},
        )
    return {name: getattr(row, path) for name, path in fields.items()}
