"""Budgets and their spending, for users who configure a workspace."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.translation import gettext, ngettext

from dlq.public.dashboard import HomeProblem, HomeSection, add_section
from executions.public.access import name_path
from executions.public.admin import Cell, links, marks, scoped
from executions.public.admin_skin import display
from executions.public.language import lazy
from executions.public.models import Permission
from valkyr_plugins.limits.admin.limits import LimitAdmin, NewLimitForm, bar, deletion
from valkyr_plugins.limits.budgets import BUDGETS, FIELDS, Use, amount, plain, uses_of
from valkyr_plugins.limits.costs import Spend, totals
from valkyr_plugins.limits.models import Budget, CostEntry

FEW = 20
PERIODS = {"day": lazy("per day"), "month": lazy("per month"), "total": lazy("in total")}
HELP = {
    "period": lazy(
        "When the budget resets. Days and months are in UTC; a total budget never resets."
    ),
    "currency": lazy("A three-letter code, such as USD. Leave empty for a budget in tokens."),
    "amount": lazy("An amount in the currency, or a whole number of tokens."),
    "soft_percent": lazy(
        "Percentage at which alert rules report that the budget is nearly spent. Leave empty for "
        "no alert."
    ),
    "kill_switch": lazy(
        "When the budget is spent, cancels the executions of the workspace or the member, and "
        "prevents new ones."
    ),
}


class BudgetForm(forms.ModelForm):  # type: ignore[type-arg] # not subscriptable at run time
    """The form for a budget's amount, alert threshold and kill switch."""

    class Meta:
        model = Budget
        fields: tuple[str, ...] = FIELDS
        help_texts = HELP

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if "amount" in self.initial:
            self.initial["amount"] = f"{self.initial['amount'].normalize():f}"


class NewBudgetForm(NewLimitForm, BudgetForm):
    """The form for a new budget: its workspace or member, its period and its currency."""

    class Meta(BudgetForm.Meta):
        fields = ("workspace", "period", "currency", *FIELDS)


@admin.register(Budget)
class BudgetAdmin(LimitAdmin):
    """The admin pages of budgets: limits on what a workspace, or a member, may spend."""

    kind, form_of_new, form_of_old = BUDGETS, NewBudgetForm, BudgetForm
    said_once, told = ("period", "currency"), "limit"
    uses = ("spent", "begins_anew", "by_model")
    operations = (
        deletion(
            BUDGETS,
            lazy("Removes the budget immediately. Cost entries are kept."),
        ),
    )
    list_display = ("whose", "workspace", "limit", "spent", "begins_anew", "switch", "since")
    search_texts = (name_path(), "workspace__slug")
    empty_text = lazy("No budgets. Spending is not limited.")

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Return the list; read the spending of all its rows together."""
        found: Any = super().get_changelist_instance(request)
        uses = uses_of(list(found.result_list))
        for row in found.result_list:
            row.present_use = uses[row.pk]
        return found

    @display(description=lazy("budget"))
    def limit(self, row: Budget) -> str:
        """Return the amount with its unit and the period, such as `12.5 USD per month`."""
        return f"{amount(row.amount, row.currency)} {PERIODS[row.period]}"

    @display(description=lazy("spent"))
    def spent(self, row: Budget) -> Any:
        """Return the spent share of the budget as a bar, with the amount and the percentage."""
        use = _use(row)
        return bar(min(use.percent, 100), 100, f"{plain(use.spent)} ({use.percent} %)")

    @display(description=lazy("resets"))
    def begins_anew(self, row: Budget) -> Any:
        """Return when the current period ends and the budget resets; a dash if it never resets."""
        ends_at = _use(row).ends_at
        return marks.EMPTY if ends_at is None else marks.ago(ends_at)

    @display(description=lazy("kill switch"))
    def switch(self, row: Budget) -> str:
        """Return "enabled" or "disabled": whether the budget has a kill switch."""
        return gettext("enabled") if row.kill_switch else gettext("disabled")

    @display(description=lazy("spent on"))
    def by_model(self, row: Budget) -> Any:
        """Return the most expensive models of the current period, with their costs and tokens."""
        found = totals(self._entries(row), "model")[:FEW]
        lines = ((_cost(each),) for each in found)
        return format_html_join("", "<div>{}</div>", lines) or gettext("Nothing yet.")

    def _entries(self, row: Budget) -> Any:
        entries = CostEntry.objects.filter(
            workspace_id=row.workspace_id, created_at__gte=_use(row).starts_at
        )
        return entries if row.user_id is None else entries.filter(user_id=row.user_id)


def _cost(total: Spend) -> str:
    text = ngettext(
        "{model}: {amount} {currency}, {tokens:,} token",
        "{model}: {amount} {currency}, {tokens:,} tokens",
        total.tokens,
    )
    return text.format(
        model=total.key or gettext("no model"),
        amount=plain(total.amount),
        currency=total.currency,
        tokens=total.tokens,
    )


def _use(row: Budget) -> Use:
    """Return a budget's spending in the current period; read it at most once per row."""
    found: Use | None = getattr(row, "present_use", None)
    if found is None:
        found = uses_of([row])[row.pk]
        row.present_use = found  # type: ignore[attr-defined]
    return found


# The home page's table of budgets that are spent or nearly spent.


READ = 200
SHOWN = 8


def _gather(request: HttpRequest) -> list[tuple[Budget, Use]]:
    """Return at most 8 budgets that reached their alert threshold or limit, each with its use."""
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
                "valkyr_limits_budget",
                row.pk,
                f"{row.user or row.workspace}, {PERIODS[row.period]}",
            ),
            gettext("{plain} of {amount} ({percent} %)").format(
                plain=plain(use.spent), amount=amount(row.amount, row.currency), percent=use.percent
            ),
        ]
        for row, use in found
    ]


def _problem(number: int) -> HomeProblem:
    text = ngettext(
        "{number} budget is near its limit or over it",
        "{number} budgets are near their limits or over them",
        number,
    )
    shown = f"{number}+" if number == SHOWN else f"{number}"
    return HomeProblem(text.format(number=shown), "savings", links.listing("valkyr_limits_budget"))


add_section(
    HomeSection(
        name="budgets",
        title=lazy("Budgets near or over their limit"),
        headers=(lazy("Budget"), lazy("Spent")),
        gather=_gather,
        rows=_rows,
        problem=_problem,
    )
)
