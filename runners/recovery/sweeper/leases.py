"""Handle expired leases, and steps whose process on this machine has ended.

A step of a Valkyr worker is blamed only if its process ended and executed no other step. A remote
runner cannot be inspected: its silence counts as a crash if it held only one run, so that a step
that always ends its runner eventually fails.
"""

from collections import Counter
from uuid import UUID

from django.db.models import Count

from executions.database.by_state import in_states
from executions.definition.limits import limits
from runners import statements
from runners.conf import config
from runners.failures.classification import Failure
from runners.models import Run
from runners.observability import metrics
from runners.pipeline import end_run
from runners.pipeline.claim_run import permanent
from runners.pipeline.crashes import mend
from runners.process import out_of_memory
from runners.process.cause_of_death import MOST, SILENT, Death, judge
from runners.process.identity import awaited, gone, unreaped
from runners.recovery.duties import each
from runners.states import HELD, ErrorType

BATCH = 200


def expired_leases() -> int:
    """Time out, release or fail runs whose lease has expired; return how many."""
    count = 0
    rows = statements.fetch("runs_with_expired_lease", {"batch": BATCH})
    # Count them before the first is released, because the last would then seem to have been alone.
    held = _held([leased_by for _, _, _, leased_by, *_ in rows])
    for run_id, execution_id, token, leased_by, crashes, queue, overdue in rows:
        companions = held.get(leased_by, 1) - 1
        if overdue:
            count += each(f"overdue run {run_id}", _time_out, execution_id, run_id, token)
        elif queue in limits().remote_queues:
            silent = (execution_id, run_id, token, leased_by, crashes, companions)
            count += each(f"silent run {run_id}", _take_back, *silent)
        else:
            death = judge(leased_by, companions)
            held_run = (execution_id, run_id, token, crashes, death)
            count += each(f"expired run {run_id}", mend, *held_run)
    return count


def _time_out(execution_id: UUID, run_id: UUID, token: int) -> int:
    message = "The step did not end before its deadline, and its worker stopped renewing the lease."
    failure = Failure(ErrorType.TIMEOUT, message, "LeaseExpired")
    return end_run.fail(execution_id, run_id, failure, token=token)


def _take_back(
    execution_id: UUID, run_id: UUID, token: int, leased_by: str, crashes: int, companions: int
) -> int:
    if companions:
        return mend(execution_id, run_id, token, crashes, SILENT)
    cause = f"the remote runner {leased_by} stopped reporting while this was its only step"
    death = Death(lost=1, crashed=1, cause=cause[:MOST])
    silent = crashes + 1
    if silent < config().poison:
        # Without a delay, because the run has already waited for the end of its lease.
        return mend(execution_id, run_id, token, crashes, death, at_once=True)
    failure = permanent(
        f"Remote runners stopped reporting during this step {silent} times, the last of them "
        f"{leased_by}, so it is not retried. Find out why the runners end or send no "
        "heartbeats, then requeue the step.",
        "RunnerLost",
    )
    metrics.DEATHS.labels("step").inc()
    return end_run.fail(execution_id, run_id, failure, token=token, crash_cause=death.cause)


def _held(holders: list[str]) -> dict[str, int]:
    """Return how many runs each of these holders has, including runs with expired leases."""
    runs = Run.objects.filter(in_states(*HELD), leased_by__in=set(holders))
    counts = runs.order_by().values_list("leased_by").annotate(number=Count("pk"))
    return dict(counts) if holders else {}


# Send steps again if their process on this machine has ended, long before their leases end.
#
# If memory was short recently, a child that its parent has not reaped is left to the next pass:
# only the parent knows whether the child had used up the memory. The worker that waits for an
# isolated process judges how that process ended; if the worker cannot, the lease expires.


SEEN = 2_000


def orphaned_steps() -> int:
    """Release or fail the runs of processes on this machine that have ended; return how many."""
    rows = statements.fetch("runs_of_worker_processes", {"batch": SEEN})
    together = Counter(leased_by for _, _, _, leased_by, _ in rows)
    short = out_of_memory.of_late()
    lost = {
        leased_by
        for leased_by in together
        if gone(leased_by) and not awaited(leased_by) and not (short and unreaped(leased_by))
    }
    deaths = {leased_by: judge(leased_by, together[leased_by] - 1) for leased_by in lost}
    count = 0
    for run_id, execution_id, token, leased_by, crashes in rows:
        if leased_by in lost:
            death = deaths[leased_by]
            held_run = (execution_id, run_id, token, crashes, death)
            count += each(f"orphaned run {run_id}", mend, *held_run)
    return count
