"""Leases that ran out: the holder's host is lost, or the step outstayed its time."""

from uuid import UUID

from runners import outside, statements
from runners.holder import gone
from runners.outcomes import Failure
from runners.states import ErrorType
from runners.sweeper.each import each
from runners.sweeper.orphans import release

BATCH = 200


def sweep() -> int:
    """Time out or release the runs whose lease is over; returns how many."""
    count = 0
    for run_id, token, leased_by, overdue in statements.fetch("expired", {"batch": BATCH}):
        count += each(f"expired run {run_id}", _mend, run_id, token, leased_by, overdue)
    return count


def _mend(run_id: UUID, token: int, leased_by: str, overdue: bool) -> int:
    if overdue:
        return outside.fail(run_id, _timeout(), token=token)
    # A lost host is no crash of the step's making; a dead process here may be.
    return release(run_id, token, int(gone(leased_by)))


def _timeout() -> Failure:
    message = "The step was not done at its deadline and its worker renewed the lease no more."
    return Failure(ErrorType.TIMEOUT, message, "LeaseExpired", None, None, "")
