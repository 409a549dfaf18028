"""Send segments again, one message each, in one go."""

from collections.abc import Iterable
from uuid import UUID

from runners.dispatch import messages
from runners.dispatch.canvas import Chain, SegmentLink
from runners.events import segments_resent

BATCH = 500


def resend(rows: Iterable[tuple[UUID, UUID, int, str, str, str]]) -> int:
    """Send (execution, version, priority, segment, queue, step path) rows; returns how many."""
    parcels = [
        messages.Parcel(
            execution, version, priority, (Chain((SegmentLink(segment, queue, path),)),)
        )
        for execution, version, priority, segment, queue, path in rows
    ]
    segments_resent.send(messages.Parcel, execution_ids=[item.execution_id for item in parcels])
    messages.publish_after_commit(parcels)
    return len(parcels)
