"""Results that are too old to be reused are forgotten."""

from runners import statements

BATCH = 1_000


def sweep() -> int:
    """Forget at most 1,000 of them; returns how many."""
    return len(statements.fetch("forget_cached", {"batch": BATCH}))
