"""Pages of big tables: nobody waits for an exact COUNT(*) of millions of rows."""

from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.utils.functional import cached_property

BOUND = 10_000
# Of a list nobody turns eighty pages: filters reach further.
PAGED = 2_000


def bounded_count(queryset: QuerySet[Any], bound: int = BOUND) -> int:
    """How many rows there are, up to `bound`: the database stops counting there."""
    return queryset.order_by().values("pk")[:bound].count()


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts and shows the first `PAGED` rows of the list; filters reach the others."""

    @cached_property
    def count(self) -> int:
        """The number of rows, at most `PAGED`."""
        rows: Any = self.object_list
        return bounded_count(rows, PAGED)
