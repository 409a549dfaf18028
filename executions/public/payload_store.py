"""Large values in object storage, for plugins that copy rows between executions."""

from executions.payload_store import enabled
from executions.payload_store.writing import share

__all__ = ["enabled", "share"]
