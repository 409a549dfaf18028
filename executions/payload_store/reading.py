"""Load stored values, within a bound. No query: the reference names the file."""

import json
from hashlib import sha256
from typing import Any
from uuid import UUID

from executions.configuration import settings as valkyr_settings
from executions.payload_store import files
from executions.payload_store.errors import StoredValueBroken, StoredValueTooLarge
from executions.payload_store.references import facts
from executions.payload_store.writing import file_name
from executions.payloads import is_reference
from executions.sealing.payloads import open_bytes

# References are values of a row, or items of what a container collected from rows.
DEPTH = 3


def text_of(workspace_id: UUID, reference: dict[str, Any]) -> bytes:
    """Return the JSON of a stored value. Call it outside any transaction.

    Raises StoredValueTooLarge above the limit, StoredValueBroken, PayloadStoreUnavailable, and
    SealBroken.
    """
    found = facts(reference)
    if found is None:
        raise StoredValueBroken("The reference to a stored value is not one that Valkyr wrote.")
    payload_id, digest, size, key = found
    check_size(size)
    if not valkyr_settings().payload_store:
        raise StoredValueBroken(
            "The value is in a payload store, and VALKYR_PAYLOAD_STORE is not set. Set it again."
        )
    name = file_name(workspace_id, digest, payload_id)
    data = files.read(name)
    if key:
        data = open_bytes(data, name, key, workspace_id)
    if sha256(data).hexdigest() != digest:
        raise StoredValueBroken(
            f"The stored value {name} differs from its digest. Restore it from a backup."
        )
    return data


def check_size(size: int) -> None:
    """Raise StoredValueTooLarge if this many bytes may not be loaded."""
    most = valkyr_settings().payload_load_limit
    if size > most:
        raise StoredValueTooLarge(
            f"The stored values to load have {size:,} bytes; at most {most:,} are allowed. Pass "
            "on less, for example from the module that makes the value, or raise "
            "VALKYR_PAYLOAD_LOAD_LIMIT."
        )


def load(workspace_id: UUID, value: Any) -> Any:
    """Return a value with each reference replaced by its value; raises the errors of `text_of`."""
    check_size(size_of(value))
    return _loaded(workspace_id, value, DEPTH)


def size_of(value: Any, depth: int = DEPTH) -> int:
    """Return the bytes that `load` reads; 0 for a value without references."""
    if is_reference(value):
        found = facts(value)
        return found[2] if found else 1
    if not depth or not isinstance(value, dict | list):
        return 0
    items = value.values() if isinstance(value, dict) else value
    return sum(size_of(item, depth - 1) for item in items)


def _loaded(workspace_id: UUID, value: Any, depth: int) -> Any:
    if is_reference(value):
        return json.loads(text_of(workspace_id, value))
    if depth and isinstance(value, dict):
        return {name: _loaded(workspace_id, item, depth - 1) for name, item in value.items()}
    if depth and isinstance(value, list):
        return [_loaded(workspace_id, item, depth - 1) for item in value]
    return value
