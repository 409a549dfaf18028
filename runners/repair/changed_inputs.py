"""Store large inputs and results that operators give to steps, before the transaction.

The new run then contains a reference. Inside a transaction, the values are kept in the row.
"""

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from executions import payloads
from executions.payload_store import writing
from executions.triggers.stored_input import stored


def put(
    workspace_id: UUID,
    execution_id: UUID | None,
    value: Any,
    release: Callable[[], None] | None = None,
) -> Any:
    """Return the value, or store it and return a StoredInput if it is above the threshold.

    The execution, if given, is recorded as a user of the value. `release` frees the connection
    before the file is written. Raises PayloadStoreUnavailable and the errors of sealing.
    """
    return stored(workspace_id, value, release, user=execution_id, most=payloads.MAX_BYTES)


def keep(pairs: Iterable[tuple[UUID, Any]]) -> None:
    """Record each execution as a user of the stored values in its run's changes.

    Call it in the transaction that inserts the runs. Raises PayloadStoreUnavailable if a stored
    value was collected in the meantime.
    """
    writing.keep_each(pairs, all_there=True)
