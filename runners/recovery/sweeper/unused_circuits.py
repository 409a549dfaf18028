"""Clean circuits are forgotten after a month, or targets called once would be kept for ever."""

from datetime import UTC, datetime, timedelta

from executions.database.clock import first_id_at
from runners import statements

KEPT = timedelta(days=30)
BATCH = 1_000


def sweep() -> int:
    """Forget at most 1,000 of them; returns how many."""
    before = first_id_at(datetime.now(UTC), -KEPT)
    return len(statements.fetch("circuit_prune", {"before": before, "batch": BATCH}))
