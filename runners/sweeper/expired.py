"""Leases that ran out: the holder's host is lost, or the step outstayed its time.

A step of our own workers is blamed only where its process is gone and executed nothing else. A
remote runner cannot be looked at: its silence counts as a crash where it held this one run alone,
so that a step that ends its runner every time comes to an end.
"""

from uuid import UUID

from executions.limits import limits
from runners import metrics, outside, statements
from runners.blame import mend
from runners.conf import config
from runners.judging import LOST, crash, judge
from runners.leases import permanent
from runners.models import Run
from runners.outcomes import Failure
from runners.states import HELD, ErrorType
from runners.sweeper.each import each

BATCH = 200


def sweep() -> int:
    """Time out or release the runs whose lease is over; returns how many."""
    count = 0
    for run_id, token, leased_by, crashes, queue, overdue in statements.fetch(
        "expired", {"batch": BATCH}
    ):
        if overdue:
            count += each(f"overdue run {run_id}", _time_out, run_id, token)
        elif queue in limits().remote_queues:
            count += each(f"silent run {run_id}", _take_back, run_id, token, leased_by, crashes)
        else:
            count += each(f"expired run {run_id}", _release, run_id, token, leased_by, crashes)
    return count


def _time_out(run_id: UUID, token: int) -> int:
    message = "The step was not done at its deadline and its worker renewed the lease no more."
    failure = Failure(ErrorType.TIMEOUT, message, "LeaseExpired", None, None, "")
    return outside.fail(run_id, failure, token=token)


def _release(run_id: UUID, token: int, leased_by: str, crashes: int) -> int:
    """A holder that was silent, and did not say that it leaves, is lost."""
    return mend(run_id, token, crashes, judge(leased_by, _companions(run_id, leased_by)))


def _take_back(run_id: UUID, token: int, leased_by: str, crashes: int) -> int:
    if _companions(run_id, leased_by):
        return mend(run_id, token, crashes, LOST)
    death = crash(f"the remote runner {leased_by} fell silent while it held this step alone")
    silent = crashes + 1
    if silent < config().poison:
        return mend(run_id, token, crashes, death)
    failure = permanent(
        f"Remote runners fell silent over this step {silent} times, the last of them {leased_by}, "
        "so it is not tried again. Look for what ends them, or keeps them from their heartbeats.",
        "RunnerLost",
    )
    metrics.DEATHS.labels("step").inc()
    return outside.fail(run_id, failure, token=token, crash_cause=death.cause)


def _companions(run_id: UUID, leased_by: str) -> int:
    """How many other runs the same holder has."""
    others = Run.objects.filter(state__in=sorted(HELD), leased_by=leased_by).exclude(pk=run_id)
    return others[:1].count()
