"""The ports of this app: typed functions that higher apps provide."""

from collections.abc import Collection
from uuid import UUID

from executions.ports import Port

stopped_redrives: Port[[Collection[UUID]], set[UUID]] = Port(
    "dlq.ports.stopped_redrives", "redrive"
)
"""Return the IDs of the given redrives that have stopped after too many failures. Optional."""
