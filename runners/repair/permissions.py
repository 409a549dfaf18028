"""Who may give a failed step other inputs, or a result by hand."""

from uuid import UUID

from executions.access import AccessChange, Action, Powers, check_change
from runners.repair.approvals import given_in


def check_repair(may: Powers, execution_id: UUID) -> None:
    """Raise Forbidden where other inputs, or a result by hand, would follow a given approval.

    Who may rewrite the workflow could leave its approvals out: authors may. One query for others.
    """
    if not may.allows(Action.AUTHOR):
        check_change(may, AccessChange(approved=bool(given_in([execution_id]))))
