"""What steps cost: the entries, to read, and their sums on an execution's page."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from unfold.decorators import display

from executions.admin import execution as execution_admin
from executions.admin import links, marks
from executions.admin.engine import FactAdmin
from executions.admin.sections import Page, PageSection, facts
from executions.models import WorkflowExecution
from runners.budgets.amounts import amount, plain
from runners.budgets.report import cost_of
from runners.models import CostEntry


@admin.register(CostEntry)
class CostEntryAdmin(FactAdmin):
    """What one attempt of a step spent on one model or service."""

    list_display = ("model_name", "money", "all_tokens", "step", "workflow", "workspace", "at")
    list_select_related = ("workflow", "workspace")
    ordering = ("-created_at", "-id")
    search_ids = ("id", "execution", "run_id")
    search_texts = ("model", "module")
    empty_text = "No step has cost anything yet."

    @display(description="model")
    def model_name(self, row: CostEntry) -> str:
        """What the module says it used."""
        return marks.clipped(row.model) if row.model else row.module

    @display(description="amount")
    def money(self, row: CostEntry) -> str:
        """The money."""
        return amount(row.amount, row.currency)

    @display(description="tokens")
    def all_tokens(self, row: CostEntry) -> str:
        """The tokens, in and out."""
        return f"{row.tokens:,}"

    @display(description="run")
    def step(self, row: CostEntry) -> Any:
        """The attempt that spent it."""
        return links.to("runners_run", row.run_id, row.module)

    @display(description="at")
    def at(self, row: CostEntry) -> Any:
        """When it was recorded."""
        return marks.ago(row.created_at)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """One entry."""
        execution = links.to("executions_workflowexecution", obj.execution_id, obj.execution_id)
        return Page(
            [self.money(obj)],
            facts(
                [
                    ("Model", self.model_name(obj)),
                    ("Module", obj.module),
                    ("Tokens", f"{obj.tokens:,}"),
                    ("Input tokens", f"{obj.input_tokens:,}"),
                    ("Output tokens", f"{obj.output_tokens:,}"),
                    ("Execution", execution),
                    ("Run", self.step(obj)),
                    ("Recorded", marks.ago(obj.created_at)),
                ]
            ),
        )


def costs(request: HttpRequest, execution: WorkflowExecution) -> PageSection | None:
    """What the execution's own steps cost so far; nothing where none did."""
    found = cost_of(execution.pk)
    if not found:
        return None
    rows = [(each.currency, plain(each.amount), f"{each.tokens:,}") for each in found]
    return PageSection("Costs", headers=("Currency", "Amount", "Tokens"), rows=rows)


execution_admin.panels.append(costs)
