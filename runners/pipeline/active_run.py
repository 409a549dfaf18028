"""A step that is executing in this process: its lease, and the details it received and reported."""

import threading
from dataclasses import dataclass, field
from typing import Any

from executions import payloads
from executions.sealing.sealer import PayloadSealer
from runners.segment.packs import Pack
from runners.segment.work import Work

MAX_DETAILS_BYTES = 64 * 1024


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@dataclass(slots=True)
class ActiveRun:
    """One step that this process executes."""

    work: Work
    until: float  # the deadline, in `time.monotonic()`
    renewed: float  # `time.monotonic()` just before the claim or the last renewal was sent
    unwanted: bool = False
    expired: bool = False
    ending: bool = False  # the lease ends soon and could not be renewed
    obeyed: bool = False  # the step has read that it must stop, so its return value is not a result
    interrupted: bool = False
    in_main_thread: bool = field(default_factory=_in_main_thread)
    details: str | None = None  # details in canonical JSON
    pack: Pack[Any] | None = None  # the segments of the message that wait for this step
    sealer: PayloadSealer | None = None

    @property
    def stopped(self) -> bool:
        """Return whether the step was stopped because its lease could not be renewed."""
        return self.obeyed or self.interrupted

    def cancelled(self) -> bool:
        """Return whether to stop: the run was ended or taken over, or its lease ends soon."""
        if self.ending and not self.unwanted:
            self.obeyed = True
        return self.unwanted or self.ending

    def tell(self, details: Any) -> None:
        """Keep details for the next attempt; the next renewal writes them.

        Raises PayloadError immediately if the details cannot be stored, so that only this step
        fails: the renewal serves every step of the process.
        """
        text = payloads.dump(details, "details of the heartbeat", MAX_DETAILS_BYTES)
        self.details = text if self.sealer is None else self.sealer.details(text, self.work.path)
