"""When a process that ended unexpectedly is started again, and when it counts as failing. Pure."""

from dataclasses import dataclass

QUICK_SECONDS = 10.0
MOST_QUICK_DEATHS = 3
LONGEST_PAUSE = 30.0


@dataclass
class Restarts:
    """One process's history; a run longer than QUICK_SECONDS clears it."""

    quick_deaths: int = 0

    def after(self, lived_seconds: float) -> float:
        """Return the seconds to wait before the next start, given how long the last run lived."""
        self.quick_deaths = self.quick_deaths + 1 if lived_seconds < QUICK_SECONDS else 0
        # The exponent is capped, since a process may fail for days.
        return min(LONGEST_PAUSE, 0.5 * 2.0 ** min(self.quick_deaths, 10))

    @property
    def failing(self) -> bool:
        """Whether the process ended right after its start too often in a row."""
        return self.quick_deaths >= MOST_QUICK_DEATHS

    def settled(self, lived_seconds: float) -> bool:
        """Clear the history of a failing process that now lives; say whether there was one."""
        if not self.failing or lived_seconds < QUICK_SECONDS:
            return False
        self.quick_deaths = 0
        return True
