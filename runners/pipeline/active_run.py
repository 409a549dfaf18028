"""A step that executes in this process: its lease, what it was told, and what it told."""

import threading
from dataclasses import dataclass, field
from typing import Any

from executions import payloads
from runners.segment.packs import Pack
from runners.segment.work import Work

MAX_DETAILS_BYTES = 64 * 1024


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


@dataclass(slots=True)
class ActiveRun:
    """One step being executed here."""

    work: Work
    until: float  # time.monotonic() of the deadline
    renewed: float  # time.monotonic() before the last renewal, or the claim, was sent
    unwanted: bool = False
    expired: bool = False
    ending: bool = False  # the lease is nearly over and could not be renewed
    obeyed: bool = False  # the step has heard that, so what it returns is no result
    interrupted: bool = False
    in_main_thread: bool = field(default_factory=_in_main_thread)
    details: str | None = None  # canonical JSON
    pack: Pack[Any] | None = None  # what waits for this step to end

    @property
    def stopped(self) -> bool:
        """Whether the step ended before its work was done, since its lease could not be renewed."""
        return self.obeyed or self.interrupted

    def cancelled(self) -> bool:
        """Whether the run is not wanted any more, or must end before its lease does."""
        if self.ending and not self.unwanted:
            self.obeyed = True
        return self.unwanted or self.ending

    def tell(self, details: Any) -> None:
        """Keep details for the next attempt; written with the next renewal.

        Raises PayloadError for what cannot be stored: here, where it ends the step that gave it,
        and not at the renewal, which serves every step of the process.
        """
        self.details = payloads.dump(details, "details of the heartbeat", MAX_DETAILS_BYTES)
