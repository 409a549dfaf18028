"""The home page's table of budgets that are spent, or nearly."""

from collections.abc import Iterable

from django.http import HttpRequest

from dlq.public.dashboard import HomeSection, add_section
from executions.public.admin import Cell, links, scoped
from executions.public.models import Permission
from valkyr_plugins.limits.budgets.amounts import amount, plain
from valkyr_plugins.limits.budgets.usage import Use, uses_of
from valkyr_plugins.limits.models import Budget

READ = 200
SHOWN = 8


def _gather(request: HttpRequest) -> list[tuple[Budget, Use]]:
    """Those that are spent, or past the share at which people are told."""
    rows = scoped(request, Budget.objects.select_related("workspace", "user"), Permission.CONFIGURE)
    chosen = list(rows[:READ])
    uses = uses_of(chosen)
    near = [
        (row, uses[row.pk]) for row in chosen if uses[row.pk].percent >= (row.soft_percent or 100)
    ]
    return sorted(near, key=lambda pair: -pair[1].percent)[:SHOWN]


def _rows(found: Iterable[tuple[Budget, Use]]) -> list[list[Cell]]:
    return [
        [
            links.to(
                "valkyr_limits_budget", row.pk, f"{row.user or row.workspace}, a {row.period}"
            ),
            f"{plain(use.spent)} of {amount(row.amount, row.currency)} ({use.percent} %)",
        ]
        for row, use in found
    ]


add_section(
    HomeSection(
        name="budgets",
        title="Budgets near or over",
        headers=("Budget", "Spent"),
        empty="No budget is near its end.",
        gather=_gather,
        rows=_rows,
    )
)
