"""When a process that ended unexpectedly is started again, and when that is given up. Pure."""

from dataclasses import dataclass

QUICK_SECONDS = 10.0
MOST_QUICK_DEATHS = 3
LONGEST_PAUSE = 30.0


@dataclass
class Restarts:
    """One process's history; a run longer than QUICK_SECONDS clears it."""

    quick_deaths: int = 0

    def after(self, lived_seconds: float) -> float | None:
        """Seconds to wait before the next start, or None to give up."""
        self.quick_deaths = self.quick_deaths + 1 if lived_seconds < QUICK_SECONDS else 0
        if self.quick_deaths >= MOST_QUICK_DEATHS:
            return None
        return min(LONGEST_PAUSE, 0.5 * 2.0**self.quick_deaths)
