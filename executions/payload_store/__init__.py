"""Large values in object storage; rows hold references to them. Off without a setting.

`writing` declares the use and writes the file, before the row that refers to it commits; `reading`
loads a value within a bound; `collecting` deletes values that no execution needs. `files` are
in an `object_storage`, `references` is the form of a reference.
"""

from executions.configuration import settings as valkyr_settings
from executions.payload_store.errors import (
    PayloadStoreUnavailable,
    StoredValueBroken,
    StoredValueTooLarge,
)

__all__ = [
    "PayloadStoreUnavailable",
    "StoredValueBroken",
    "StoredValueTooLarge",
    "enabled",
]


def enabled() -> bool:
    """Return whether the installation has a store of large values."""
    return bool(valkyr_settings().payload_store)
