"""What this app says upwards: signals sent inside the transaction, with `send`.

A failing receiver fails the transaction, so that state and its consequences never part.
"""

from django.dispatch import Signal

# executions: list[Admitted] - inserted or admitted RUNNING in this transaction
execution_admitted = Signal()
# execution_id - PAUSED went back to RUNNING; the row is locked
execution_resumed = Signal()
# execution_ids - RUNNING, woke without a place and have one again; the rows are locked
execution_roused = Signal()
# execution_id, epoch
execution_rolled_back = Signal()
# execution_id, state, parent_run_id, trigger_id; the row is locked
execution_finished = Signal()
# event_id - the row of an event that was just stored, before the transaction commits
event_received = Signal()
# workspace_id, user_id - somebody (None: a trigger) wants executions that are not inserted yet; a
# receiver that raises QuotaExceeded refuses them
executions_asked = Signal()
