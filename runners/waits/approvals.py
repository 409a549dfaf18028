"""Decide on an approval: check the user, accept one decision, and record it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from executions.access import Action, Forbidden, Powers, User, powers_on
from executions.access.actor import Actor, record
from executions.database import transaction
from executions.database.clock import database_now
from executions.errors import NotFound, WrongState
from executions.models import WorkflowExecution
from executions.states import Role
from runners.models import Run
from runners.states import RunState, WaitKind
from runners.waits import wake_runs

APPROVED, REJECTED = "approved", "rejected"
DECISIONS = (APPROVED, REJECTED)


def decide(run_id: UUID, decision: str, comment: str, *, user: User, actor: Actor) -> Run:
    """Record the decision on an approval; return its run, which continues with the decision.

    If two users decide, the first decision counts. Raises NotFound if the user may not see the run,
    and Forbidden if the user may not decide. Raises WrongState if the run is not waiting for a
    decision.
    """
    with transaction.atomic():
        run = _locked(run_id)
        may = (
            powers_on(user, run.execution.workspace_id, run.execution.workflow_id)
            if run is not None
            else None
        )
        if run is None or may is None or not (may.role or may.any):
            raise _unknown(run_id)
        _check_right(run, user, may)
        if run.state != RunState.WAITING or run.waits_for != WaitKind.APPROVAL:
            raise WrongState(_not_waiting(run, named=may.allows(Action.VIEW)), run.state)
        waking = {
            "by": "person",
            "decision": decision,
            "comment": comment,
            "actor": user.get_username(),
            "at": database_now().isoformat(),
        }
        if not wake_runs.wake(run.pk, WaitKind.APPROVAL, waking):
            state = run.execution.state
            raise WrongState(f"The execution is {state}; no decision is needed.", state)
        record(
            actor,
            "run.decide",
            workspace_id=run.execution.workspace_id,
            object_type="Run",
            object_id=run.pk,
            reason=comment,
            details={"decision": decision, "step": run.step_path},
        )
        run.refresh_from_db(fields=["state", "wake"])
    return run


def may_decide(name: str, may: Powers, approvers: Sequence[str]) -> bool:
    """Return whether the member with this name and these powers may decide.

    Approvers have one of the listed names or roles; without a list, any operator may decide. A name
    that equals a role refers to the role, even if a user has that name.
    """
    if not approvers:
        return may.allows(Action.OPERATE)
    if may.limits is not None and Action.OPERATE not in may.limits.scopes:
        return False
    named = name in approvers and name not in Role.values
    return may.role in approvers or (named and bool(may.role or may.any))


def approvers_of(run: Run) -> list[str]:
    """Return a waiting run's approvers; [] if all operators may decide."""
    facts: Any = run.progress or {}
    return list(facts.get("approvers", ()))


def _locked(run_id: UUID) -> Run | None:
    """Return the run, with its execution locked; None if the run does not exist."""
    own = Run.objects.filter(pk=run_id).values("execution_id")
    locked = WorkflowExecution.objects.select_for_update(no_key=True).filter(pk__in=own)
    if not locked.values_list("pk", flat=True):
        return None
    # A separate statement, which sees what others committed before this transaction got the lock.
    return Run.objects.select_related("execution").get(pk=run_id)


def _check_right(run: Run, user: User, may: Powers) -> None:
    approvers = approvers_of(run)
    if may_decide(user.get_username(), may, approvers):
        return
    if not may.any:
        raise _unknown(run.pk)
    who = ", ".join(approvers) or "users with the permission to operate executions"
    raise Forbidden(f"You cannot decide this approval. Ask one of these: {who}.")


def _unknown(run_id: UUID) -> NotFound:
    return NotFound(f"There is no run {run_id} in your workspaces.")


def _not_waiting(run: Run, *, named: bool) -> str:
    if run.waits_for != WaitKind.APPROVAL:
        if not named:
            return f"Run {run.pk} does not wait for a decision: its step is not an approval."
        return f"Step {run.step_path} does not wait for a decision: it is a {run.module}."
    answer: Any = run.wake or {}
    if answer.get("decision"):
        return f"It was {answer['decision']} by {answer['actor']} already."
    if answer.get("by") == "timer":
        return "It expired before a decision."
    return f"It does not wait for a decision: the run is {run.state}."
