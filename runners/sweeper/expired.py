"""Leases that ran out: the holder's host is lost, or the step outstayed its time.

Of our own workers only a process that is gone has crashed. A remote runner cannot be looked at, so
its silence counts as a crash: a step that takes its runner down must come to an end.
"""

from uuid import UUID

from executions.limits import limits
from runners import outside, statements
from runners.conf import config
from runners.holder import gone
from runners.leases import permanent
from runners.outcomes import Failure
from runners.states import ErrorType
from runners.sweeper.each import each
from runners.sweeper.orphans import release

BATCH = 200


def sweep() -> int:
    """Time out or release the runs whose lease is over; returns how many."""
    count = 0
    for run_id, token, leased_by, recoveries, queue, overdue in statements.fetch(
        "expired", {"batch": BATCH}
    ):
        if overdue:
            count += each(f"overdue run {run_id}", _time_out, run_id, token)
        elif queue in limits().remote_queues:
            count += each(f"silent run {run_id}", _take_back, run_id, token, leased_by, recoveries)
        else:
            # A lost host is no crash of the step's making; a dead process here may be.
            crashed = int(gone(leased_by))
            count += each(f"expired run {run_id}", release, run_id, token, crashed)
    return count


def _time_out(run_id: UUID, token: int) -> int:
    message = "The step was not done at its deadline and its worker renewed the lease no more."
    failure = Failure(ErrorType.TIMEOUT, message, "LeaseExpired", None, None, "")
    return outside.fail(run_id, failure, token=token)


def _take_back(run_id: UUID, token: int, leased_by: str, recoveries: int) -> int:
    silent = recoveries + 1
    if silent < config().poison:
        return release(run_id, token, 1)
    failure = permanent(
        f"Remote runners fell silent over this step {silent} times, the last of them {leased_by}, "
        "so it is not tried again. Look for what ends them, or keeps them from their heartbeats.",
        "RunnerLost",
    )
    return outside.fail(run_id, failure, token=token)
