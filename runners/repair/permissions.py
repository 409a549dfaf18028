"""The permissions to repair a failed step manually; an approval's result cannot be recorded."""

from collections.abc import Collection
from uuid import UUID

from executions.access import AccessChange, Action, Powers, check_change
from executions.errors import ValkyrError
from runners import statements

# Nobody can repair an approval manually. This part also finds the executions in which an approval
# was given.


APPROVAL = "flow.approval"


class ApprovalNeeded(ValkyrError):
    """Only the approvers of an approval can decide it."""

    code = "approval_needed"


def refuse_other_inputs(module: str, step_path: str) -> None:
    """Raise ApprovalNeeded if the step is an approval, whose question and approvers are fixed."""
    if module == APPROVAL:
        raise ApprovalNeeded(
            f"Step {step_path} is an approval, whose inputs cannot be overridden. Requeue it as it "
            "is, or change and publish the workflow and fork on the new version."
        )


def refuse_given_result(module: str, step_path: str) -> None:
    """Raise ApprovalNeeded if the step is an approval: its result cannot be recorded manually."""
    if module == APPROVAL:
        raise ApprovalNeeded(
            f"Step {step_path} is an approval, whose decision cannot be set manually. Requeue it "
            "to request the approval again."
        )


def given_in(execution_ids: Collection[UUID]) -> set[UUID]:
    """Return the IDs of executions in whose tree of parents and children a step was approved."""
    if not execution_ids:
        return set()
    found = statements.fetch("executions_with_approval", {"ids": list(execution_ids)})
    return {pk for (pk,) in found}


def check_repair(may: Powers, execution_id: UUID) -> None:
    """Raise Forbidden if an approval was given and the user is not allowed to author workflows.

    Authors may change inputs or a result, because they could remove the approval from the workflow.
    For other users the check takes one query.
    """
    if not may.allows(Action.AUTHOR):
        check_change(may, AccessChange(approved=bool(given_in([execution_id]))))
