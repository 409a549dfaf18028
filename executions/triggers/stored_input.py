"""Payloads that are too large for the row of the execution that they start.

A large payload is written to the store before the transaction that starts the execution, so that no
lock is held during the write. The transaction then makes the execution refer to the stored value
(`writing.keep_each`). If the start is rejected or rolled back, nothing refers to the value, and the
collector deletes it after the grace period.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions import payload_store, payloads
from executions.configuration import settings as valkyr_settings
from executions.database import connection
from executions.errors import PayloadError
from executions.payload_store import reading, writing
from executions.sealing import payload_keys

MAX_PAYLOAD_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class StoredInput:
    """A payload in the store: its value for the checks, and the reference for the row.

    If the value was not `loaded` (see `from_row`), `value` is the reference itself.
    """

    value: Any
    reference: Any
    loaded: bool = True


def most_bytes() -> int:
    """Return the maximum size of a start's payload, in bytes of JSON."""
    settings = valkyr_settings()
    return settings.payload_start_limit if settings.payload_store else MAX_PAYLOAD_BYTES


def row_limit() -> int:
    """Return the maximum size of the payload that `request.check` accepts, in bytes of JSON.

    In a transaction, the row holds the whole payload.
    """
    return MAX_PAYLOAD_BYTES if connection.in_atomic_block else most_bytes()


def stored(
    workspace_id: UUID,
    payload: Any,
    release: Callable[[], None] | None = None,
    *,
    user: UUID | None = None,
    most: int | None = None,
) -> Any:
    """Return the payload; if it is above the threshold, store it and return a StoredInput.

    Call it before the transaction that starts the execution; inside a transaction, the payload is
    returned unchanged. `release` frees the database connection before the file is written; by
    default, the connection is closed. `user` is the execution that will use the payload, if it
    exists. A payload that cannot be stored, or has more than `most` bytes (default: `most_bytes`),
    is returned unchanged too. Raises PayloadStoreUnavailable and the errors of sealing.
    """
    if (
        not payload_store.enabled()
        or connection.in_atomic_block
        or isinstance(payload, StoredInput)
    ):
        return payload
    try:
        if not writing.is_above(payload, valkyr_settings().payload_store_above):
            return payload
        found = writing.encoded(payload, "payload", most_bytes() if most is None else most)
    except PayloadError:
        return payload
    row = writing.note(workspace_id, user, found, payload_keys.current(workspace_id))
    (release or connection.close)()
    writing.write(workspace_id, row, found.parts())
    writing.written(row)
    return StoredInput(payload, writing.refer(row, payload))


def from_row(workspace_id: UUID, payload: Any) -> Any:
    """Return a row's payload for a start; if it contains stored values, return a StoredInput.

    The values are loaded, unless they are too large together or a transaction is open. Raises
    StoredValueBroken, PayloadStoreUnavailable and the errors of sealing.
    """
    if not payload_store.enabled() or next(payloads.references_in(payload), None) is None:
        return payload
    reference = payloads.trusted(payload)
    most = max(valkyr_settings().payload_load_limit, most_bytes())
    if connection.in_atomic_block or reading.size_of(payload) > most:
        return StoredInput(reference, reference, loaded=False)
    return StoredInput(reading.load(workspace_id, payload, most), reference)


def value_of(payload: Any) -> Any:
    """Return the payload for checks, labels and keys; its reference if it was not loaded."""
    return payload.value if isinstance(payload, StoredInput) else payload


def row_of(payload: Any) -> Any:
    """Return the value for the execution's row: the payload, or the reference to it."""
    return payload.reference if isinstance(payload, StoredInput) else payload
