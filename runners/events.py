"""The signal to the apps above this one, sent in the transaction that resends segments."""

from django.dispatch import Signal

# execution_ids - the executions whose segments are sent again when this transaction commits
segments_resent = Signal()
