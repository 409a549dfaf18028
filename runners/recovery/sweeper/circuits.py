"""Targets that have rested are tried by one of the steps held for them; closed ones let more go.

Failures whose window is over are forgotten on the way, so that what workers read stays short.
"""

from runners import statements
from runners.circuits import holding
from runners.circuits.conf import config
from runners.circuits.gate import memory
from runners.circuits.memory import Key
from runners.recovery.sweeper.each import each

BATCH = 1_000


def sweep() -> int:
    """Wake, of each target, as many held runs as may call it now; returns how many."""
    statements.fetch("circuit_forget", {"batch": BATCH})
    enabled = config().enabled
    found = statements.fetch("circuit_held", {"batch": BATCH, "whatever": not enabled})
    if found:
        memory().refresh()
    return sum(
        each(f"what is held for {target}", _serve, Key(workspace_id, target), enabled)
        for workspace_id, target in found
    )


def _serve(key: Key, enabled: bool) -> int:
    """Without circuit breakers nothing is held any more."""
    if not enabled:
        return holding.wake(key)
    return holding.wake_some(key, memory().limits(key.target))
