"""The gate of budgets: a step that costs does not run once a budget it would draw on is spent."""

from runners.budgets.errors import BudgetSpent
from runners.budgets.known import known
from runners.budgets.spent import spent_of
from runners.pipeline.gates import Asked


def ask(asked: Asked) -> None:
    """Raise BudgetSpent for a step whose spender has nothing left.

    Any spent budget counts, whatever its currency: what a step will spend is not known before it
    runs. One query, for steps that cost in workspaces that have budgets.
    """
    workspace_id = asked.context.version.workspace_id
    if not asked.module.costs or workspace_id not in known().budgets:
        return
    spent = spent_of(workspace_id, asked.context.principal_id)
    if spent is not None:
        raise BudgetSpent(spent.sentence, details=spent.facts)
