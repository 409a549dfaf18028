"""Stored payloads of events, signals and callbacks.

A large payload is stored before the transaction that wakes runs, and their rows refer to it. A
filter reads the payload itself, which is loaded before any transaction.
"""

from typing import Any
from uuid import UUID

from executions import payload_store, payloads
from executions.configuration import settings
from executions.errors import PayloadError
from executions.payload_store import StoredValueBroken, StoredValueTooLarge
from executions.payload_store.writing import is_above
from executions.payloads import StoredReference
from executions.sealing import SealBroken
from executions.triggers.stored_input import row_of, stored
from runners.segment import stored_results


def is_large(payload: Any) -> bool:
    """Return whether a payload belongs in the store; False for one that cannot be stored."""
    try:
        return payload_store.enabled() and is_above(payload, settings().payload_store_above)
    except PayloadError:
        return False


def put(workspace_id: UUID, execution_id: UUID, payload: Any) -> Any:
    """Return the payload, or a reference to it if it is large and was stored for the execution.

    Call it before the transaction that wakes a run of the execution. Raises PayloadStoreUnavailable
    and the errors of sealing.
    """
    if not payload_store.enabled():
        return payload
    return row_of(stored(workspace_id, payload, user=execution_id, most=payloads.MAX_BYTES))


def for_filters(workspace_id: UUID, payload: Any) -> Any:
    """Return a payload for filters, loaded if it is a StoredReference (`payloads.from_row`).

    A filter that reads a missing payload fails with a message. Raises PayloadStoreUnavailable.
    """
    if not isinstance(payload, StoredReference):
        return payload
    try:
        return stored_results.read(workspace_id, payload, payloads.MAX_BYTES)
    except (StoredValueBroken, StoredValueTooLarge, SealBroken) as error:
        return stored_results.NotLoaded(payload, str(error))
