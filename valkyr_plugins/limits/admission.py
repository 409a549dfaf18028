"""Checks before executions start: quotas, and budgets with a kill switch."""

from typing import Any
from uuid import UUID

from django.dispatch import receiver

from executions.public.errors import QuotaExceeded
from executions.public.events import executions_asked
from executions.public.quotas import Ceilings, CeilingsQuery, ceilings_query, of_tier, windowed
from valkyr_plugins.limits import statements
from valkyr_plugins.limits.budget_enforcement import spent_of
from valkyr_plugins.limits.known_limits import known


class SpenderStopped(QuotaExceeded):
    """No execution starts: a budget with a kill switch is spent."""

    code = "budget_spent"


@ceilings_query.provide
def asked(workspace_id: UUID, user_id: Any) -> CeilingsQuery:
    """Return the query for the limits of a new execution.

    It reads the workspace's tier, and the quotas of the workspace and of the user.
    """
    of = {"workspace": workspace_id, "user": user_id}
    return CeilingsQuery(statements.asked("workspace_limits_and_quotas", of), _ceilings)


def _ceilings(rows: list[tuple[Any, ...]]) -> Ceilings:
    quotas = []
    for exists, whose, per_hour, per_day in (row[7:] for row in rows):
        if exists:
            of = "The quota of this workspace" if whose is None else "Your quota in this workspace"
            quotas += windowed(whose, of, per_hour, per_day)
    return of_tier(rows[0][:7], quotas)


@receiver(executions_asked)
def refuse(sender: Any, workspace_id: UUID, user_id: Any, **_: Any) -> None:
    """Raise SpenderStopped if a budget with a kill switch is spent.

    As for an exceeded quota, schedules and queues wait, and other callers get a 429. Reads budgets
    only if the workspace has a budget with a kill switch.
    """
    if workspace_id not in known().killing:
        return
    spent = spent_of(workspace_id, user_id, killing=True)
    if spent is not None:
        raise SpenderStopped(spent.sentence, spent.retry_after, spent.facts)
