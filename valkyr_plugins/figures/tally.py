"""What is counted of the executions of a stretch of time. Pure."""

from dataclasses import dataclass, field, fields
from typing import Self

from valkyr_plugins.figures.histogram import Histogram

# The final states and the counters they go to.
COUNTERS = {
    "SUCCESS": "succeeded",
    "FAILED": "failed",
    "TIMEOUT": "timed_out",
    "CANCELLED": "cancelled",
}
NUMBERS = (
    "created", "succeeded", "failed", "timed_out", "cancelled", "failed_attempts", "dead_letters",
)  # fmt: skip


@dataclass(slots=True)
class Tally:
    """Counters and histograms; tallies add up."""

    created: int = 0
    succeeded: int = 0
    failed: int = 0
    timed_out: int = 0
    cancelled: int = 0
    failed_attempts: int = 0
    dead_letters: int = 0
    durations: Histogram = field(default_factory=Histogram)
    dispatches: Histogram = field(default_factory=Histogram)

    def count(self, name: str, number: int) -> None:
        """So many more of one counter."""
        setattr(self, name, getattr(self, name) + number)

    def merge(self, other: Self) -> None:
        """Count all that the other counted."""
        for name in NUMBERS:
            self.count(name, getattr(other, name))
        self.durations.merge(other.durations)
        self.dispatches.merge(other.dispatches)

    @property
    def ended_badly(self) -> int:
        """Failed or timed out."""
        return self.failed + self.timed_out

    @property
    def ended(self) -> int:
        """All that ended, however."""
        return self.succeeded + self.ended_badly + self.cancelled

    @property
    def failure_rate(self) -> float | None:
        """The share of those not cancelled that failed or timed out; None where there are none."""
        of = self.succeeded + self.ended_badly
        return self.ended_badly / of if of else None


assert set(NUMBERS) | {"durations", "dispatches"} == {one.name for one in fields(Tally)}
