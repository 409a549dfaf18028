"""Steps whose process on this machine is gone are sent again, long before their lease runs out."""

from runners import outside, statements
from runners.conf import config
from runners.holder import gone
from runners.leases import announced, poisoned
from runners.resend import resend

SEEN = 2_000


def sweep() -> int:
    """Release and send the runs of dead processes; returns how many."""
    count = 0
    for run_id, token, leased_by, recoveries in statements.fetch("held", {"batch": SEEN}):
        if not gone(leased_by):
            continue
        crashed = 0 if announced(leased_by) else 1
        if recoveries + crashed >= config().poison:
            looked = outside.look(run_id)
            if looked is not None:
                failure = poisoned(looked.work.step, recoveries + crashed)
                count += outside.fail(run_id, failure, token=token)
            continue
        count += release(run_id, token, crashed)
    return count


def release(run_id: object, token: int, crashed: int) -> int:
    """Put a held run back to pending and send it; 0 when it was taken over meanwhile."""
    return resend(
        statements.fetch(
            "release",
            {"run": run_id, "token": token, "crashed": crashed, "patience": config().patience},
        )
    )
