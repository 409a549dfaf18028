"""Steps whose process on this machine is gone are sent again, long before their lease runs out."""

from uuid import UUID

from runners import metrics, outside, statements
from runners.conf import config
from runners.holder import gone
from runners.leases import announced, poisoned
from runners.resend import resend
from runners.sweeper.each import each

SEEN = 2_000


def sweep() -> int:
    """Release and send the runs of dead processes; returns how many."""
    count = 0
    for run_id, token, leased_by, recoveries in statements.fetch("held", {"batch": SEEN}):
        if gone(leased_by):
            count += each(f"orphaned run {run_id}", _mend, run_id, token, leased_by, recoveries)
    return count


def _mend(run_id: UUID, token: int, leased_by: str, recoveries: int) -> int:
    crashed = 0 if announced(leased_by) else 1
    if recoveries + crashed < config().poison:
        return release(run_id, token, crashed)
    looked = outside.look(run_id)
    if looked is None:
        return 0
    return outside.fail(run_id, poisoned(looked.work.path, recoveries + crashed), token=token)


def release(run_id: object, token: int, crashed: int) -> int:
    """Put a held run back to pending and send it; 0 when it was taken over meanwhile."""
    sent = resend(
        statements.fetch(
            "release",
            {"run": run_id, "token": token, "crashed": crashed, "patience": config().patience},
        )
    )
    if sent:
        metrics.RECOVERIES.labels("sweeper").inc(sent)
    return sent
