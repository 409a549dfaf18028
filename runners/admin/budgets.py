"""Budgets, with how much of them is spent and on what, for who configures a workspace."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from unfold.decorators import display

from executions.access.actor import Actor
from executions.admin import links, marks
from executions.admin.operating import OperatingAdmin
from executions.admin.operations import Operation
from executions.admin.writing import WritingAdmin
from executions.states import Permission
from runners.admin.budget_forms import BudgetForm, NewBudgetForm
from runners.budgets.amounts import amount, plain
from runners.budgets.report import totals
from runners.budgets.setting import FIELDS, change_budget, create_budget, delete_budget
from runners.budgets.usage import Use, uses_of
from runners.models import Budget, CostEntry

FEW = 20


def _delete(pk: UUID, actor: Actor, data: Mapping[str, Any]) -> None:
    delete_budget(pk, actor=actor, reason=data["reason"])


DELETE = Operation(
    name="delete_budget",
    title="Delete…",
    icon="delete",
    done="deleted",
    question="It limits nothing any more, at once. What steps cost stays written down.",
    apply=_delete,
    needs=Permission.CONFIGURE,
    danger=True,
    destination=lambda _: links.listing("runners_budget"),
)


@admin.register(Budget)
class BudgetAdmin(OperatingAdmin, WritingAdmin):
    """How much a workspace, or one of its members, may spend."""

    operations = (DELETE,)
    list_display = ("whose", "workspace", "limit", "spent", "begins_anew", "switch", "since")
    list_select_related = ("user", "workspace")
    search_ids = ("id",)
    search_texts = ("user__username", "workspace__slug")
    needs = edits = Permission.CONFIGURE
    empty_text = "No budgets: nothing limits what steps spend."

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """The list, with what is spent looked up for all of its rows at once."""
        found: Any = super().get_changelist_instance(request)
        uses = uses_of(list(found.result_list))
        for row in found.result_list:
            row.present_use = uses[row.pk]
        return found

    @display(description="limits")
    def whose(self, row: Budget) -> str:
        """The user, or the workspace as a whole."""
        return str(row.user) if row.user_id else "the whole workspace"

    @display(description="budget")
    def limit(self, row: Budget) -> str:
        """How much in which time."""
        a = "in total" if row.period == "total" else f"a {row.period}"
        return f"{amount(row.amount, row.currency)} {a}"

    @display(description="spent")
    def spent(self, row: Budget) -> Any:
        """How much of it is spent, with a bar."""
        use = _use(row)
        return format_html(
            '<progress class="vk-bar" max="100" value="{}" aria-hidden="true"></progress>'
            '<span class="vk-nowrap">{} ({} %)</span>',
            min(use.percent, 100),
            plain(use.spent),
            use.percent,
        )

    @display(description="begins anew")
    def begins_anew(self, row: Budget) -> Any:
        """When the present period ends."""
        ends_at = _use(row).ends_at
        return marks.EMPTY if ends_at is None else marks.ago(ends_at)

    @display(description="kill switch")
    def switch(self, row: Budget) -> str:
        """Whether it ends what runs."""
        return "on" if row.kill_switch else "off"

    @display(description="since")
    def since(self, row: Budget) -> Any:
        """How long it exists."""
        return marks.ago(row.created_at)

    @display(description="spent on")
    def by_model(self, row: Budget) -> Any:
        """The dearest models in the present period, with what they cost."""
        found = totals(self._entries(row), "model")[:FEW]
        lines = (
            (each.key or "no model", plain(each.amount), each.currency, f"{each.tokens:,}")
            for each in found
        )
        return format_html_join("", "<div>{}: {} {}, {} tokens</div>", lines) or "Nothing yet."

    def _entries(self, row: Budget) -> Any:
        entries = CostEntry.objects.filter(
            workspace_id=row.workspace_id, created_at__gte=_use(row).starts_at
        )
        return entries if row.user_id is None else entries.filter(user_id=row.user_id)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Who is limited, when it begins anew and in what is said once, and stays."""
        if obj is None:
            return ("workspace", "username", "period", "currency", *FIELDS)
        return ("workspace", "whose", "limit", *FIELDS, "spent", "begins_anew", "by_model")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """A budget is one workspace's, or one member's in it."""
        shown = ("workspace", "whose", "limit", "spent", "begins_anew", "by_model")
        return () if obj is None else shown

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        """The form that says who is limited, or the one that does not."""
        kwargs["form"] = NewBudgetForm if obj is None else BudgetForm
        return super().get_form(request, obj, change, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """They are deleted by the operation, which writes down why."""
        return False

    def write(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> Budget:
        """Make it, or set another amount, threshold or switch."""
        actor, data = Actor.of_request(request), form.cleaned_data
        facts = {name: data[name] for name in FIELDS}
        if change:
            return change_budget(obj.pk, facts, actor=actor)
        facts |= {"period": data["period"], "currency": data["currency"]}
        return create_budget(data["workspace"], facts, user_id=data["user_id"], actor=actor)


def _use(row: Budget) -> Use:
    """What is spent of it; looked up once for a row."""
    found: Use | None = getattr(row, "present_use", None)
    if found is None:
        found = uses_of([row])[row.pk]
        row.present_use = found  # type: ignore[attr-defined]
    return found
