"""What the spenders of spent budgets have under way is cancelled, where a kill switch says so."""

import time

from runners.budgets.spent import all_killing
from runners.budgets.stopping import stop, unfinished
from runners.recovery.sweeper.each import each

BATCH = 200
SECONDS = 0.7  # this sweep comes every second


def sweep() -> int:
    """Cancel them, batch after batch while there is time; returns how many."""
    until, count = time.monotonic() + SECONDS, 0
    for spent in all_killing():
        while found := unfinished(spent, BATCH):
            cancelled = 0
            for execution_id in found:
                cancelled += each(f"spent budget {spent.id}", stop, execution_id, spent)
                if time.monotonic() > until:
                    return count + cancelled
            count += cancelled
            if not cancelled:
                break
    return count
