"""Large values in object storage, for plugins that copy or read the rows of executions."""

from executions.payload_store import PayloadStoreUnavailable, StoredValueBroken, enabled
from executions.payload_store.collecting import HOLDERS
from executions.payload_store.writing import share

__all__ = ["HOLDERS", "PayloadStoreUnavailable", "StoredValueBroken", "enabled", "share"]
