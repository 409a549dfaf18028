"""The segment's data from the message and the execution's row. The data never changes."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.definition.versions import Compiled
from executions.sealing.payloads import UNKNOWN
from executions.sealing.sealer import PayloadSealer


@dataclass(frozen=True, slots=True)
class SegmentContext:
    """The execution's data as one worker loaded it, and the message's data about the segment.

    For an execution that is planned from its rows, `queue` is empty and `started_at` and `input`
    are not loaded. `sealing_key` is the ID of the workspace's payload key, if it was loaded.
    """

    execution_id: UUID
    version: Compiled
    epoch: int
    priority: int
    # The queue that this worker serves; it may continue with segments of this queue.
    queue: str = ""
    started_at: datetime | None = None
    input: Any = None
    trace_id: str = ""
    principal_id: Any = None  # the user who started the execution or its root
    links: tuple[str, ...] = ()  # the next segments of the Celery chain
    header: bool = False  # whether it is a chord's header, for which the chord's body plans
    sealing_key: int | None = UNKNOWN
    sealer: PayloadSealer = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Set the sealer for the execution's payloads."""
        sealer = PayloadSealer(self.execution_id, self.version.workspace_id, self.sealing_key)
        object.__setattr__(self, "sealer", sealer)
