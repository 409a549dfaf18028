"""Return a stored value of a row to a user; each use is recorded."""

from collections.abc import Iterator
from itertools import chain
from typing import Any
from uuid import UUID

from executions.access import workspace_id_of
from executions.access.actor import Actor, record
from executions.audit.trail import name_of
from executions.database import transaction
from executions.errors import NotFound
from executions.payload_store import reading
from executions.payloads import is_reference


def download(row: Any, column: str, *, actor: Actor) -> tuple[int, Iterator[bytes]]:
    """Return the size of the value that a row's column refers to, and its JSON in parts.

    Raises NotFound if the value is in the row itself, and the errors of `reading.opened`, also
    between parts. The first part has already been read. The caller has checked the permission.
    """
    reference = getattr(row, column)
    if not is_reference(reference):
        raise NotFound(f"The {column} of {row.pk} is not in the payload store; read it there.")
    workspace_id: UUID = workspace_id_of(row)
    with transaction.atomic():
        record(
            actor,
            "payload.download",
            workspace_id=workspace_id,
            object_type=name_of(type(row)),
            object_id=row.pk,
            details={"fields": [column], "digest": reference.get("digest")},
        )
    parts = reading.parts_of(workspace_id, reference)
    first = next(parts)
    return reading.size_of(reference), chain([first], parts)
