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
from executions.payloads import is_reference, references_in
from executions.sealing.payloads import open_bytes


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
    return _loaded(workspace_id, value)


def size_of(value: Any) -> int:
    """Return the bytes that `load` reads; 0 for a value without references."""
    known = map(facts, references_in(value))
    return sum(found[2] if found else 1 for found in known)


def _loaded(workspace_id: UUID, value: Any) -> Any:
    if is_reference(value):
        return json.loads(text_of(workspace_id, value))
    if isinstance(value, dict):
        return {name: _loaded(workspace_id, item) for name, item in value.items()}
    return [_loaded(workspace_id, item) for item in value] if isinstance(value, list) else value
