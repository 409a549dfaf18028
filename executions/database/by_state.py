"""Find executions or runs by state through the indexes of live and failed rows.

These indexes require a condition on `finished_at`, so that no statement about one execution or one
run is ever planned with them (docs/reference/indexes.md). A CHECK of each table keeps `finished_at`
consistent with the state.
"""

from django.db.models import Q

ENDED = frozenset({"CANCELLED", "DLQ", "FAILED", "SKIPPED", "SUCCESS", "TIMEOUT"})


def in_states(*states: str) -> Q:
    """Return the condition that the state is one of `states`, which are all live or all final."""
    return Q(state__in=sorted(states), finished_at__isnull=not ENDED.issuperset(states))
