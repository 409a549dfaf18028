"""What this app says upwards, inside the transaction."""

from django.dispatch import Signal

# budget, what ("budget.soft" or "budget.spent"), spent - a threshold was passed, told once a period
budget_reached = Signal()
# breaker_id, workspace_id, target - of a circuit that failures opened
circuit_opened = Signal()
