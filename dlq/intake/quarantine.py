"""Move a live run to the dead-letter queue manually; its worker can no longer record a result."""

from uuid import UUID

from dlq.models import DeadLetterEntry
from executions.access.actor import Actor, record
from executions.database import transaction
from executions.errors import NotFound, WrongState
from executions.states import VersionKind
from runners.failures.classification import Failure
from runners.models import Run
from runners.pipeline import end_run
from runners.states import ErrorType


def quarantine(run_id: UUID, *, actor: Actor, reason: str) -> DeadLetterEntry:
    """Quarantine a live run. Raises NotFound, or WrongState if the run cannot be quarantined."""
    failure = Failure(ErrorType.PERMANENT, f"Quarantined by {actor.name}: {reason}", "Quarantined")
    _refuse_of_test(run_id)
    execution_id = end_run.execution_of(run_id)
    if execution_id is None:
        raise NotFound(f"There is no run {run_id}.")
    with transaction.atomic():
        entry = end_run.dead_letter(
            execution_id, run_id, failure, manual=reason or "quarantined by hand"
        )
        if entry is None:
            state = Run.objects.values_list("state", flat=True).get(pk=run_id)
            raise WrongState(
                f"Run {run_id} is {state}; it cannot be quarantined: it must be live (PENDING, "
                "LEASED, RUNNING or WAITING), in a running execution.",
                state,
            )
        assert isinstance(entry, DeadLetterEntry)
        record(
            actor,
            "run.quarantine",
            workspace_id=entry.workspace_id,
            object_type="Run",
            object_id=run_id,
            reason=reason,
            details={"deadLetterId": str(entry.pk)},
        )
    return entry


def _refuse_of_test(run_id: UUID) -> None:
    """Raise WrongState if the run belongs to a test run, which has no dead letters."""
    rows = Run.objects.filter(pk=run_id, execution__version__kind=VersionKind.TEST)
    state = rows.values_list("state", flat=True).first()
    if state is not None:
        raise WrongState(
            f"Run {run_id} belongs to a test run, which has no dead letters. Cancel its execution, "
            "or change the draft and test it again.",
            state,
        )
