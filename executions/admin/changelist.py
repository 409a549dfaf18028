"""How our lists count, and the tabs above them."""

from typing import Any

from django.http import HttpRequest
from unfold.views import ChangeList

from executions import replica
from executions.admin.paginator import PAGED


class BoundedChangeList(ChangeList):
    """A list whose count stops at a bound and says so."""

    def get_results(self, request: HttpRequest) -> None:
        """Read the page, from a replica where there is one."""
        replica.read(request, lambda: self.read_page(request))

    def read_page(self, request: HttpRequest) -> None:
        """As Django's, without the offer to "show all", which our bound cannot keep."""
        super().get_results(request)
        self.full_result_count = self.result_count
        len(self.result_list)  # reads the rows now, not while the page is drawn

    @property
    def count_text(self) -> str:
        """The number of rows: exact below the bound."""
        return f"{PAGED:,}+" if self.result_count >= PAGED else f"{self.result_count:,}"

    @property
    def tabs(self) -> list[Any]:
        """The choices of the first filter, for those admins that show them as tabs."""
        return list(self.filter_specs[0].choices(self)) if self.filter_specs else []
