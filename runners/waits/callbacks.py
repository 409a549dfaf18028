"""Calls to the URL of a step: the first call resumes the step.

A call that arrives before the step waits is stored until then. The execution's lock decides whether
the call or the wait comes first.
"""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from executions.access.actor import Actor, record
from executions.database import transaction
from executions.database.cells import turn_to_id
from executions.database.clock import database_now
from executions.errors import NotFound, ValkyrError, WrongState
from executions.models import WorkflowExecution
from executions.payloads import dump, from_row
from executions.states import ExecutionState
from runners.models import EarlyCallback, Run
from runners.segment.template_data import read_callback_url
from runners.states import LIVE, RunState, WaitKind
from runners.waits import stored_payloads, wake_runs

# States in which steps may still wait; after a failure, if their dead letters are requeued.
OPEN = frozenset(
    {
        ExecutionState.PENDING,
        ExecutionState.RUNNING,
        ExecutionState.PAUSED,
        ExecutionState.FAILED,
    }
)
# A failed or dead run may run again and wait, unless an `error` edge handled its failure.
TO_COME = LIVE | {RunState.FAILED, RunState.DLQ}


class UnknownCallback(NotFound):
    """This callback does not exist. Use the address exactly as you received it."""

    code = "unknown_callback"


class CallbackUsed(WrongState):
    """This callback was already used. Each callback works once."""

    code = "callback_used"

    def __init__(self) -> None:
        """Set the message to the class's docstring, and the state to `used`."""
        super().__init__((self.__doc__ or "").strip(), "used")


class CallbackGone(ValkyrError):
    """No step waits for this callback any longer: the step or its execution has ended."""

    code = "callback_gone"


def receive(token: str, payload: Any, *, actor: Actor) -> None:
    """Resume the step of a URL's `token` with `payload`, or store the payload until the step waits.

    `actor` is the caller, known only by its address. Raises UnknownCallback, CallbackUsed,
    CallbackGone, PayloadError, or PayloadStoreUnavailable if a large payload cannot be stored.
    """
    named = read_callback_url(token)
    if named is None:
        raise UnknownCallback
    execution_id, path = named
    turn_to_id(execution_id)
    payload = _stored(execution_id, path, payload)
    with transaction.atomic():
        execution = _locked(execution_id)
        if execution is None or execution.state not in OPEN:
            raise CallbackUsed if _answered(execution_id, path) else CallbackGone
        run = _newest(execution_id, path, execution.epoch)
        if run is None or _may_wait(run):
            _keep(execution_id, path, payload)
            _audit(actor, execution, path, early=True)
            return
        if run.state == RunState.WAITING:
            waking = _waking(payload, database_now().isoformat())
            if wake_runs.wake(run.pk, WaitKind.CALLBACK, waking):
                _audit(actor, execution, path, early=False)
                return
        raise CallbackUsed if _woken_by_call(run) else CallbackGone


def _stored(execution_id: UUID, path: str, payload: Any) -> Any:
    """Return the payload, or the reference to it if it is large and the callback is still open."""
    if not stored_payloads.is_large(payload) or _early(execution_id, path).exists():
        return payload
    rows = WorkflowExecution.objects.only("id", "workspace_id", "epoch")
    execution = rows.filter(pk=execution_id, state__in=sorted(OPEN)).first()
    run = None if execution is None else _newest(execution_id, path, execution.epoch)
    is_open = run is None or run.state == RunState.WAITING or _may_wait(run)
    if execution is None or not is_open:
        return payload
    return stored_payloads.put(execution.workspace_id, execution_id, payload)


def hand_over(execution_id: UUID, run_id: UUID, path: str) -> bool:
    """Wake a newly suspended step if its callback arrived early; return whether it was woken.

    The caller holds the execution's lock and has suspended the run.
    """
    early = _early(execution_id, path).first()
    if early is None:
        return False
    early.delete()
    waking = _waking(from_row(early.payload), early.received_at.isoformat())
    return bool(wake_runs.wake_all([(run_id, execution_id)], [WaitKind.CALLBACK], waking))


def _early(execution_id: UUID, path: str) -> QuerySet[EarlyCallback]:
    return EarlyCallback.objects.filter(execution_id=execution_id, step_path=path)


def _locked(execution_id: UUID) -> WorkflowExecution | None:
    rows = WorkflowExecution.objects.select_for_update(no_key=True)
    return rows.only("id", "workspace_id", "state", "epoch").filter(pk=execution_id).first()


def _audit(actor: Actor, execution: WorkflowExecution, path: str, *, early: bool) -> None:
    record(
        actor,
        "execution.callback",
        workspace_id=execution.workspace_id,
        object_type="WorkflowExecution",
        object_id=execution.pk,
        details={"step": path, "early": early},
    )


def _newest(execution_id: UUID, path: str, epoch: int) -> Run | None:
    """Return the step's newest attempt that was not rolled back; None if there is no attempt."""
    rows = Run.objects.filter(execution_id=execution_id, step_path=path, superseded=False)
    found = rows.filter(epoch=epoch).order_by("-attempt")
    return found.only("id", "state", "outcome", "waits_for", "wake").first()


def _may_wait(run: Run) -> bool:
    """Return whether a step that has not waited yet may still begin to wait."""
    return run.waits_for == "" and run.state in TO_COME and run.outcome != "error"


def _keep(execution_id: UUID, path: str, payload: Any) -> None:
    """Store an early payload. Raises PayloadError for an invalid one, CallbackUsed for a second."""
    dump(payload, "payload")
    _, created = EarlyCallback.objects.get_or_create(
        execution_id=execution_id, step_path=path, defaults={"payload": payload}
    )
    if not created:
        raise CallbackUsed


def _answered(execution_id: UUID, path: str) -> bool:
    runs = Run.objects.filter(execution_id=execution_id, step_path=path)
    return any(_woken_by_call(run) for run in runs.only("id", "wake"))


def _woken_by_call(run: Run) -> bool:
    return bool((run.wake or {}).get("by") == "callback")


def _waking(payload: Any, received_at: str) -> dict[str, Any]:
    return {"by": "callback", "payload": payload, "receivedAt": received_at}
