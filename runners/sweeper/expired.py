"""Leases that ran out: the holder's host is lost, or the step outstayed its time."""

from runners import outside, statements
from runners.holder import gone
from runners.outcomes import Failure
from runners.states import ErrorType
from runners.sweeper.orphans import release

BATCH = 200


def sweep() -> int:
    """Time out or release the runs whose lease is over; returns how many."""
    count = 0
    for run_id, token, leased_by, overdue in statements.fetch("expired", {"batch": BATCH}):
        if overdue:
            count += outside.fail(run_id, _timeout(), token=token)
        else:
            # A lost host is no crash of the step's making; a dead process here may be.
            count += release(run_id, token, int(gone(leased_by)))
    return count


def _timeout() -> Failure:
    message = "The step was not done at its deadline and its worker renewed the lease no more."
    return Failure(ErrorType.TIMEOUT, message, "LeaseExpired", None, None, "")
