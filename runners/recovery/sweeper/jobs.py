"""Jobs that requests left to workers: lost ones are sent again or fail, old ones are deleted."""

from executions.jobs import sweeping


def sweep() -> int:
    """Return how many were sent again or failed."""
    return sweeping.sweep()
