"""What an attempt spent is written and counted in the transaction that records it.

A result that is refused, because its lease was lost, leaves no entry: the transaction is undone.
Tokens are counted after a step spent them.
"""

import json
from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from uuid6 import uuid7

from executions.public.values import payloads
from runners.public.costs import Cost, SegmentContext, Unit, Work, record_costs
from valkyr_plugins.limits import statements
from valkyr_plugins.limits.budgets.telling import tell
from valkyr_plugins.limits.known import known

# What fits into the columns; more of it changes nothing for a budget.
MOST_SPENT = Decimal(9999999999999999)


@record_costs.provide
def note(context: SegmentContext, work: Work, unit: Unit) -> None:
    """Write what a unit cost, and count it; call it last in the transaction that recorded it."""
    told = statements.fetch(
        "note_costs",
        {
            "execution": context.execution_id,
            "run": work.run_id,
            "module": work.step.module,
            "costs": payloads.dump([_row(cost) for cost in unit.costs], "costs"),
            "most": MOST_SPENT,
        },
    )
    for budget_id, starts_at, spent in told:
        tell(budget_id, starts_at, spent)
    workspace_id: UUID = context.version.workspace_id
    if workspace_id in known().tokens:
        used = [(cost.model, cost.tokens) for cost in unit.costs if cost.tokens]
        count_tokens(workspace_id, context.execution_id, used)


def _row(cost: Cost) -> dict[str, object]:
    return {
        "id": str(uuid7()),
        "model": cost.model,
        "currency": cost.currency,
        "input_tokens": cost.input_tokens,
        "output_tokens": cost.output_tokens,
        "tokens": cost.tokens,
        "amount": f"{cost.amount:f}",
    }


def count_tokens(workspace_id: UUID, execution_id: UUID, used: Sequence[tuple[str, int]]) -> None:
    """Add tokens by model to the windows of the quotas on them; call it after locking the run."""
    if not used:
        return
    models = [{"model": model, "tokens": tokens} for model, tokens in used]
    statements.fetch(
        "count_tokens",
        {"workspace": workspace_id, "execution": execution_id, "used": json.dumps(models)},
    )
