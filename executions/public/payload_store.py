"""Large values in object storage, for plugins that copy or read the rows of executions."""

from executions.payload_store import PayloadStoreUnavailable, StoredValueBroken, enabled
from executions.payload_store.blocks import block_around, items_at
from executions.payload_store.collecting import HOLDERS
from executions.payload_store.object_storage import CHUNK, ObjectStorage, translated
from executions.payload_store.reading import load
from executions.payload_store.writing import share
from executions.payloads import trusted

__all__ = [
    "CHUNK",
    "HOLDERS",
    "ObjectStorage",
    "PayloadStoreUnavailable",
    "StoredValueBroken",
    "block_around",
    "enabled",
    "items_at",
    "load",
    "share",
    "translated",
    "trusted",
]
