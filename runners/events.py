"""What this app says upwards, inside the transaction."""

from django.dispatch import Signal

# run_id, failure (Failure), exhausted (retries used up), manual (reason of a quarantine by hand,
# or None); may be answered with the dead letter
run_dead_lettered = Signal()
# run_ids - of dead runs; to be answered with the ids of their open dead letters, by run
letters_sought = Signal()
# budget, what ("budget.soft" or "budget.spent"), spent - a threshold was passed, told once a period
budget_reached = Signal()
# breaker_id, workspace_id, target - of a circuit that failures opened
circuit_opened = Signal()
