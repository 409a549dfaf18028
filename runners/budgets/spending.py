"""What an attempt spent is written down in the transaction that records it.

A result that is refused, because its lease was lost, leaves no entry: the transaction is undone.
"""

from decimal import Decimal
from uuid import UUID

from django.db import connection
from uuid6 import uuid7

from executions import payloads
from executions.quotas.tokens import count_tokens
from runners import statements
from runners.budgets.known import known
from runners.budgets.telling import tell
from runners.conf import default_currency
from runners.segment.state import SegmentState
from runners.segment.work import Cost, Unit, Work

# What fits into the columns; more of it changes nothing for a budget.
MOST_SPENT = Decimal(9999999999999999)
MOST_TOKENS = 2**63 - 1
MOST_AMOUNT = Decimal(9999999999)


def note(state: SegmentState, work: Work, unit: Unit) -> None:
    """Write what a unit cost, and count it; call it last in the transaction that recorded it."""
    told = statements.fetch(
        "note_costs",
        {
            "execution": state.context.execution_id,
            "run": work.run_id,
            "module": work.step.module,
            "costs": payloads.dump([_row(cost) for cost in unit.costs], "costs"),
            "most": MOST_SPENT,
        },
    )
    for budget_id, starts_at, spent in told:
        tell(budget_id, starts_at, spent)
    workspace_id: UUID = state.context.version.workspace_id
    if workspace_id in known().tokens:
        used = [(cost.model, cost.tokens) for cost in unit.costs if cost.tokens]
        count_tokens(workspace_id, state.context.execution_id, used)


def totals(unit: Unit) -> tuple[int, Decimal]:
    """Tokens, and the amount in the installation's own currency, as a run's row keeps them."""
    ours = default_currency()
    amounts = [cost.amount for cost in unit.costs if cost.currency == ours]
    tokens = sum(cost.tokens for cost in unit.costs)
    return min(tokens, MOST_TOKENS), min(sum(amounts, Decimal(0)), MOST_AMOUNT)


def wake_connection() -> None:
    """Replace a connection that died while the step ran: a result that cost is worth a question."""
    if not connection.in_atomic_block and connection.connection and not connection.is_usable():
        connection.close()


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
