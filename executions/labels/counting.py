"""Count the newest executions or dead letters that match, grouped by the value of a label.

Counting all rows would read millions. Users usually ask about recent rows, such as the failures of
the last few hours, grouped by customer.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform

MOST_ROWS, MOST_VALUES = 10_000, 100


@dataclass(frozen=True, slots=True)
class LabelValueCount:
    """A value of a label, and the number of rows that have it, in total and by state."""

    value: str
    count: int
    by_state: dict[str, int]


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """The most frequent values among the newest rows.

    `rows` is the number of rows read, at most 10,000; `complete` says whether these are all rows
    that match.
    """

    rows: int
    complete: bool
    values: list[LabelValueCount]


def counts(
    rows: QuerySet[Any],
    name: str,
    state: str,
    *,
    order: tuple[str, ...] = ("-id",),
    since: UUID | None = None,
) -> LabelCounts:
    """Count the values of the label `name` among the newest `rows`, in total and by `state`.

    `state` is the name of a column. `since` excludes rows that are not newer than that ID; the
    counts are not complete then.
    """
    if since is not None:
        rows = rows.filter(pk__gt=since)
    value = KeyTextTransform(name, "labels", output_field=TextField())
    # Python counts the values, so that the query can read the newest rows in the order of an index.
    newest = rows.order_by(*order).annotate(label_value=value).values_list("label_value", state)
    found = list(newest[: MOST_ROWS + 1])
    totals: Counter[str] = Counter()
    states: dict[str, Counter[str]] = defaultdict(Counter)
    for label, in_state in found[:MOST_ROWS]:
        if label is not None:
            totals[label] += 1
            states[label][in_state] += 1
    return LabelCounts(
        rows=min(len(found), MOST_ROWS),
        complete=since is None and len(found) <= MOST_ROWS,
        values=[
            LabelValueCount(label, count, dict(states[label]))
            for label, count in totals.most_common(MOST_VALUES)
        ],
    )
