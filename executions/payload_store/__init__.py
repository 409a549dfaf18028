"""Large values in object storage, to which rows hold references; off by default.

`writing` declares the use of a value and writes its file before the row with the reference commits.
`reading` loads a value within a bound, and `collecting` deletes values that no execution needs.
`files` handles the files in an `object_storage`; `references` defines the form of a reference.
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
