"""What this app says of itself, inside the transaction in which it happens."""

from django.dispatch import Signal

# group_id - the first failures of its kind were counted
group_new = Signal()
# group_id, version_number - a resolved group was seen again in a version it was resolved in
group_regressed = Signal()
# redrive_id, reason - too many of its entries failed again
redrive_stopped = Signal()
# redrive_id, state - done or aborted
redrive_finished = Signal()
