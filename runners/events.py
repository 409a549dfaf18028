"""The signal that this app sends to the apps above it, in the transaction of its event."""

from django.dispatch import Signal

# execution_ids - the executions whose segments are sent again when this transaction commits
segments_resent = Signal()
