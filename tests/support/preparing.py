"""Remote steps in tests that start no workers: prepared by the function that their task calls."""

from executions.limits import limits
from runners.models import Run
from runners.remote.preparing import prepare_runs
from runners.states import RunState


def prepare_remote_runs() -> int:
    """Render the inputs of all remote steps that are ready, as workers do; returns how many."""
    found = Run.objects.filter(
        state=RunState.PENDING,
        secret_places__isnull=True,
        superseded=False,
        queue__in=sorted(limits().remote_queues),
    )
    rows = found.order_by("id").values_list("execution_id", "execution__version_id", "segment")
    return sum(prepare_runs(execution, version, [segment]) for execution, version, segment in rows)
