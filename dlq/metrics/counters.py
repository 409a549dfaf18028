"""What this app counts in the process that does it."""

from django.db import transaction

from executions.observability.metric_values import Counter

DEAD_LETTERS = Counter(
    "valkyr_dead_letters", "Dead letters that were added, by type of failure.", ["failure"]
)


def dead_letter(failure: str) -> None:
    """One was added; counted when the transaction commits."""
    transaction.on_commit(DEAD_LETTERS.labels(failure).inc, robust=True)
