"""Limits on starts, and many concurrent clients."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth import get_user_model

from executions.errors import QuotaExceeded
from executions.models import Membership, QuotaUse, Tier, Workflow, WorkflowExecution, Workspace
from tests.support.rivals import Rivals
from tests.support.workflows import limited_workspace

CLIENTS = 50


def workspace_of(**limits: int) -> Workspace:
    """Create a workspace whose tier has only these limits."""
    made = limited_workspace(1)
    Tier.objects.filter(pk=made.tier_id).update(max_concurrent=None)
    Tier.objects.filter(pk=made.tier_id).update(**limits)
    return made


def somebody(workspace: Workspace, name: str) -> Any:
    user = get_user_model().objects.create_user(f"{name}-{workspace.slug}")
    Membership.objects.create(user=user, workspace=workspace, role="WORKFLOW")
    return user


def used(workspace: Workspace, window: str = "hour", user: Any = None) -> int:
    row = QuotaUse.objects.get(workspace=workspace, window=window, user_id=user and user.pk)
    return row.used


def executions(workflow: Workflow) -> int:
    return WorkflowExecution.objects.filter(workflow=workflow).count()


def at_once(act: Callable[[int], Any], clients: int = CLIENTS) -> list[Any]:
    """Call `act` from this number of concurrent clients; return the results, including
    QuotaExceeded.
    """

    def tried(number: int) -> Any:
        try:
            return act(number)
        except QuotaExceeded as error:
            return error

    with Rivals(clients) as rivals:
        futures = [rivals.begin(tried, number) for number in range(clients)]
        return [future.result(60) for future in futures]


def refusals(results: list[Any]) -> list[QuotaExceeded]:
    return [result for result in results if isinstance(result, QuotaExceeded)]
