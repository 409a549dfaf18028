"""What this app says upwards, inside the transaction."""

from django.dispatch import Signal

# execution_ids - of which segments are sent again when this transaction commits
segments_resent = Signal()
