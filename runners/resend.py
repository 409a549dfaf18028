"""Send segments again, one message each, in one go."""

from collections.abc import Iterable
from uuid import UUID

from runners import dispatch
from runners.canvas import Chain, Link

BATCH = 500


def resend(rows: Iterable[tuple[UUID, UUID, int, str, str, str]]) -> int:
    """Send (execution, version, priority, segment, queue, step path) rows; returns how many."""
    parcels = [
        dispatch.Parcel(execution, version, priority, (Chain((Link(segment, queue, path),)),))
        for execution, version, priority, segment, queue, path in rows
    ]
    dispatch.publish_after_commit(parcels)
    return len(parcels)
