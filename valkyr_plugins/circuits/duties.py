"""Duties of the sweeper: held steps go on, and what is not needed any more is forgotten."""

from datetime import UTC, datetime, timedelta

from executions.public.database import first_id_at
from runners.public.recovery import each
from valkyr_plugins.circuits import holding, statements
from valkyr_plugins.circuits.conf import config
from valkyr_plugins.circuits.gate import memory
from valkyr_plugins.circuits.memory import Key

KEPT = timedelta(days=30)
BATCH = 1_000


def wake_held() -> int:
    """Wake, of each target, as many held runs as may call it now; returns how many.

    Failures whose window is over are forgotten on the way, so that what workers read stays short.
    """
    statements.fetch("forget", {"batch": BATCH})
    enabled = config().enabled
    found = statements.fetch("held", {"batch": BATCH, "whatever": not enabled})
    if found:
        memory().refresh()
    return sum(
        each(f"what is held for {target}", _serve, Key(workspace_id, target), enabled)
        for workspace_id, target in found
    )


def forget_unused() -> int:
    """Forget clean circuits after a month, at most 1,000 of them; returns how many.

    Otherwise targets called once would be kept for ever.
    """
    before = first_id_at(datetime.now(UTC), -KEPT)
    return len(statements.fetch("prune", {"before": before, "batch": BATCH}))


def _serve(key: Key, enabled: bool) -> int:
    """Without circuit breakers nothing is held any more."""
    if not enabled:
        return holding.wake(key)
    return holding.wake_some(key, memory().limits(key.target))
