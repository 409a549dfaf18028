"""Send segments again, one message each, in one go."""

from collections.abc import Iterable
from uuid import UUID

from executions.observability import tracing
from executions.telemetry import switch
from runners.dispatch import messages
from runners.dispatch.canvas import Chain, Link

BATCH = 500


def resend(rows: Iterable[tuple[UUID, UUID, int, str, str, str]]) -> int:
    """Send (execution, version, priority, segment, queue, step path) rows; returns how many."""
    parcels = [
        messages.Parcel(execution, version, priority, (Chain((Link(segment, queue, path),)),))
        for execution, version, priority, segment, queue, path in rows
    ]
    if switch.on():
        tracing.learn([item.execution_id for item in parcels])
    messages.publish_after_commit(parcels)
    return len(parcels)
