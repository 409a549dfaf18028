"""The signals that this app sends to higher apps, inside the transaction."""

from django.dispatch import Signal

# execution_ids - the executions whose segments are sent again when this transaction commits
segments_resent = Signal()
