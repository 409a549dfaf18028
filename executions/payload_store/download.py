"""Return a stored value or stored content to a user; the audit trail records each download."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any
from uuid import UUID

from executions.access import workspace_id_of
from executions.access.actor import Actor, record
from executions.audit.trail import name_of
from executions.database import transaction
from executions.errors import NotFound
from executions.models import StoredPayload, WorkflowExecution
from executions.payload_store import reading
from executions.payload_store.references import content_stem, is_content, stored_reference
from executions.payloads import STORED, is_reference


@dataclass(frozen=True, slots=True)
class Download:
    """The size and the parts of a value's JSON, or of content; the first part has been read."""

    size: int
    parts: Iterator[bytes]
    content: bool = False


def download(row: Any, column: str, *, actor: Actor) -> Download:
    """Return the value that a row's column refers to.

    Raises NotFound if the value is in the row itself, and the errors of `reading.opened`, also
    between parts. The caller has checked the permission.
    """
    reference = getattr(row, column)
    if not is_reference(reference):
        raise NotFound(f"The {column} of {row.pk} is not in the payload store; read it there.")
    return _read(row, reference, [column], actor)


def download_used(execution: WorkflowExecution, stored_id: UUID, *, actor: Actor) -> Download:
    """Return a stored value, or stored content, that an execution uses.

    Raises NotFound if the execution does not use it or its file is not complete, and the errors of
    `reading.opened`, also between parts. The caller has checked the permission.
    """
    whole = StoredPayload.objects.exclude(stored_at=None)  # others are still being written
    found = whole.filter(
        pk=stored_id, workspace_id=execution.workspace_id, uses__holder_id=execution.pk
    ).first()
    if found is None:
        raise NotFound(f"Execution {execution.pk} has no stored value {stored_id}.")
    content = found.digest == content_stem(found.pk)
    digest = found.content_digest if content else found.digest
    reference = stored_reference(found.pk, digest, found.size, found.sealing_key, content=content)
    return _read(execution, reference, [], actor)


def _read(row: Any, reference: dict[str, Any], fields: list[str], actor: Actor) -> Download:
    workspace_id: UUID = workspace_id_of(row)
    with transaction.atomic():
        record(
            actor,
            "payload.download",
            workspace_id=workspace_id,
            object_type=name_of(type(row)),
            object_id=row.pk,
            details={
                "fields": fields,
                "digest": reference.get("digest"),
                "storedId": reference[STORED],
            },
        )
    parts = reading.parts_of(workspace_id, reference)
    first = next(parts)
    return Download(reference["bytes"], chain([first], parts), is_content(reference))
