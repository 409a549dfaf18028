"""Add duties to the sweeper, and process the rows of a duty."""

from runners.recovery.duties import EVERY_FIVE_SECONDS, EVERY_SECOND, Duty, each

__all__ = [
    "EVERY_FIVE_SECONDS",
    "EVERY_SECOND",
    "Duty",
    "each",
]
