"""Find the failure groups of dead letters that have a label."""

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from dlq.browse.bounded_list import first
from dlq.models import DeadLetterEntry
from executions.labels.finding import among

# Maximum number of newest dead letters with the labels that are searched.
MOST = 2_000


def labelled(
    groups: QuerySet[Any], labels: Mapping[str, str], letters: QuerySet[DeadLetterEntry]
) -> QuerySet[Any]:
    """Return those of `groups` that contain one of the newest 2,000 `letters` with these labels.

    `letters` are the dead letters that the caller may see, filtered like the groups. Raises
    TooManyRows if the search takes too long.
    """
    found = first(letters.filter(labels__contains=dict(labels)).order_by("-id"), MOST, MOST)
    rows = DeadLetterEntry.objects.filter(pk__in=among(found.ids)).order_by()
    return groups.filter(pk__in=list(rows.values_list("group_id", flat=True).distinct()))
