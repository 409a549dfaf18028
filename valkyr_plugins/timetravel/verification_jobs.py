"""Verifying an execution as a job: asked for by requests, computed by a worker."""

from typing import Any
from uuid import UUID

from executions.public.errors import NotFound, ValkyrError, WrongState
from executions.public.jobs import Job, JobKind, ask, register
from executions.public.models import FINAL, WorkflowExecution
from runners.public.rendering import StepTimeout, time_limit

KIND = "verification"
SECONDS = 60.0


class VerificationTimeout(ValkyrError):
    """The verification was not done in its time."""

    code = "verification_timeout"


def connect() -> None:
    """Register the kind."""
    register(JobKind(KIND, "valkyr_plugins.timetravel.verification_jobs:work", SECONDS))


def request(execution_id: UUID, requested_by: str) -> Job:
    """Ask a worker to verify an execution; returns the job.

    Raises NotFound, WrongState when the execution is not over, QuotaExceeded.
    """
    execution = (
        WorkflowExecution.objects.only("id", "state", "workspace_id")
        .filter(pk=execution_id)
        .first()
    )
    if execution is None:
        raise NotFound(f"There is no execution {execution_id}.")
    require_final(execution)
    workspace = execution.workspace_id
    return ask(KIND, execution_id, workspace_id=workspace, requested_by=requested_by)


def require_final(execution: WorkflowExecution) -> None:
    """Raise WrongState unless the execution is over."""
    if execution.state not in FINAL:
        raise WrongState(
            f"Execution {execution.pk} is {execution.state}; only one that is over can be "
            "verified. Wait for its end, or cancel it.",
            execution.state,
        )


def work(execution_id: UUID) -> dict[str, Any]:
    """Verify an execution, in a worker; returns what the API shows of it."""
    from valkyr_plugins.timetravel.verify import verify

    try:
        with time_limit(SECONDS):
            found = verify(execution_id, seconds=SECONDS)
    except (StepTimeout, TimeoutError):
        raise VerificationTimeout(
            f"Verifying execution {execution_id} took more than {SECONDS:g} s. It has too many "
            "steps, or its expressions take too long."
        ) from None
    return {
        "same": found.same,
        "steps": found.steps,
        "complete": found.complete,
        "differences": [
            {
                "step_path": difference.step_path,
                "field": difference.field,
                "recorded": difference.recorded,
                "replayed": difference.replayed,
            }
            for difference in found.differences
        ],
    }
