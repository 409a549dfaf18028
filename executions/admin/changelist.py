"""Lists of large tables: their counts, their pages, and the tabs above them."""

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property

from executions import replica
from executions.admin.skin import ChangeList

# Lists of large tables, without an exact COUNT(*) of millions of rows.


BOUND = 10_000
# Maximum number of rows in the pages of a list (80 pages); users find other rows with filters.
PAGED = 2_000


def bounded_count(queryset: QuerySet[Any], bound: int = BOUND) -> int:
    """Return the number of rows, at most `bound`; the database stops counting there."""
    return queryset.order_by().values("pk")[:bound].count()


class BoundedPaginator(Paginator):  # type: ignore[type-arg]
    """Counts and shows the first `PAGED` rows of the list; users reach other rows with filters."""

    @cached_property
    def count(self) -> int:
        """Return the number of rows, at most `PAGED`."""
        rows: Any = self.object_list
        return bounded_count(rows, PAGED)


class BoundedChangeList(ChangeList):
    """A list that counts rows up to a bound, and marks the count if it reaches the bound."""

    def get_results(self, request: HttpRequest) -> None:
        """Read the page, from a replica if there is one."""
        replica.read(request, lambda: self.read_page(request))

    def read_page(self, request: HttpRequest) -> None:
        """Read the page as Django does; read its rows now, not while the page is rendered."""
        super().get_results(request)
        self.full_result_count = self.result_count
        len(self.result_list)  # reads the rows now, not while the page is rendered

    @property
    def count_text(self) -> str:
        """Return the number of rows as text, with a plus sign if it reached the limit."""
        return f"{PAGED:,}+" if self.result_count >= PAGED else f"{self.result_count:,}"

    @property
    def whole(self) -> bool:
        """Return whether the list has no search, and no filters except those in `whole_lists`.

        If such a list is empty, its page shows an introduction instead of "No results".
        """
        known: tuple[Mapping[str, str], ...] = getattr(self.model_admin, "whole_lists", ({},))
        given = {name: values[-1] for name, values in self.filter_params.items()}
        return not self.query and given in known

    @property
    def tabs(self) -> list[Any]:
        """Return the choices of the first filter, for admins that show the choices as tabs."""
        return list(self.filter_specs[0].choices(self)) if self.filter_specs else []
