"""Steps whose process on this machine is gone are sent again, long before their lease runs out.

The end of an isolated process is judged by the worker that waits for it; where that fails, the
lease runs out.
"""

from collections import Counter

from runners import statements
from runners.pipeline.crashes import mend
from runners.process.cause_of_death import judge
from runners.process.identity import awaited, gone
from runners.recovery.duties import each

SEEN = 2_000


def sweep() -> int:
    """Release and send the runs of dead processes; returns how many."""
    rows = statements.fetch("held", {"batch": SEEN})
    together = Counter(leased_by for _, _, leased_by, _ in rows)
    lost = {leased_by for leased_by in together if gone(leased_by) and not awaited(leased_by)}
    deaths = {leased_by: judge(leased_by, together[leased_by] - 1) for leased_by in lost}
    count = 0
    for run_id, token, leased_by, crashes in rows:
        if leased_by in lost:
            death = deaths[leased_by]
            count += each(f"orphaned run {run_id}", mend, run_id, token, crashes, death)
    return count
