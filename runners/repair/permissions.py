"""Who may repair a failed step by hand; nobody gives an approval's result."""

from collections.abc import Collection
from uuid import UUID

from executions.access import AccessChange, Action, Powers, check_change
from executions.errors import ValkyrError
from runners import statements

# What nobody repairs by hand: approvals. And in which executions somebody gave one.


APPROVAL = "flow.approval"


class ApprovalNeeded(ValkyrError):
    """An approval is given by those whom it asks, and in no other way."""

    code = "approval_needed"


def refuse_other_inputs(module: str, step_path: str) -> None:
    """Raise ApprovalNeeded where the step is an approval: nobody changes what it asks, or whom."""
    if module == APPROVAL:
        raise ApprovalNeeded(
            f"Step {step_path} is an approval, whose inputs cannot be overridden. Requeue it as it "
            "is, or change and publish the workflow and fork on the new version."
        )


def refuse_given_result(module: str, step_path: str) -> None:
    """Raise ApprovalNeeded where the step is an approval: its result is nobody's to write."""
    if module == APPROVAL:
        raise ApprovalNeeded(
            f"Step {step_path} is an approval, whose decision cannot be given by hand. Requeue it: "
            "it is asked again."
        )


def given_in(execution_ids: Collection[UUID]) -> set[UUID]:
    """Those executions in which somebody approved, or in one that they call or are called by."""
    if not execution_ids:
        return set()
    found = statements.fetch("approved_in", {"ids": list(execution_ids)})
    return {pk for (pk,) in found}


def check_repair(may: Powers, execution_id: UUID) -> None:
    """Raise Forbidden where other inputs, or a result by hand, would follow a given approval.

    Who may rewrite the workflow could leave its approvals out: authors may. One query for others.
    """
    if not may.allows(Action.AUTHOR):
        check_change(may, AccessChange(approved=bool(given_in([execution_id]))))
