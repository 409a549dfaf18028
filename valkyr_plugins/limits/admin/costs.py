"""Costs of steps: read-only entries, and sums on the pages of executions and workflows."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext

from dlq.public.dashboard import WORKFLOW_SECTIONS, WorkflowSection
from executions.public.admin import (
    Cell,
    FactAdmin,
    Page,
    PageSection,
    execution_panels,
    facts,
    links,
    marks,
)
from executions.public.admin_skin import display
from executions.public.language import lazy
from executions.public.models import Workflow, WorkflowExecution
from valkyr_plugins.limits.budgets import amount, plain
from valkyr_plugins.limits.costs import Spend, cost_of, totals
from valkyr_plugins.limits.models import CostEntry

SHOWN = 25


@admin.register(CostEntry)
class CostEntryAdmin(FactAdmin):
    """What one attempt of a step spent on one model or service."""

    list_display = ("model_name", "money", "all_tokens", "step", "workflow", "workspace", "at")
    list_select_related = ("workflow", "workspace")
    ordering = ("-created_at", "-id")
    search_ids = ("id", "execution", "run_id")
    search_texts = ("model", "module")
    empty_text = lazy("No costs yet.")

    @display(description=lazy("model"))
    def model_name(self, row: CostEntry) -> str:
        """Return the model that the module reported, or else the module's type."""
        return marks.clipped(row.model) if row.model else row.module

    @display(description=lazy("amount"))
    def money(self, row: CostEntry) -> str:
        """Return the amount of money with its currency."""
        return amount(row.amount, row.currency)

    @display(description=lazy("tokens"))
    def all_tokens(self, row: CostEntry) -> str:
        """Return the number of input and output tokens together."""
        return f"{row.tokens:,}"

    @display(description=lazy("run"))
    def step(self, row: CostEntry) -> Any:
        """Return a link to the attempt that caused the cost."""
        return links.to("runners_run", row.run_id, row.module)

    @display(description=lazy("time"))
    def at(self, row: CostEntry) -> Any:
        """Return how long ago the cost was recorded."""
        return marks.ago(row.created_at)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the read-only page of a cost entry: its amount, model, tokens and run."""
        execution = links.to("executions_workflowexecution", obj.execution_id, obj.execution_id)
        return Page(
            [self.money(obj)],
            facts(
                [
                    (gettext("Model"), self.model_name(obj)),
                    (gettext("Module"), obj.module),
                    (gettext("Tokens"), f"{obj.tokens:,}"),
                    (gettext("Input tokens"), f"{obj.input_tokens:,}"),
                    (gettext("Output tokens"), f"{obj.output_tokens:,}"),
                    (gettext("Execution"), execution),
                    (gettext("Run"), self.step(obj)),
                    (gettext("Recorded"), marks.ago(obj.created_at)),
                ]
            ),
        )


def costs(request: HttpRequest, execution: WorkflowExecution) -> PageSection | None:
    """Return a section with the costs of the execution's own steps; None if there are none."""
    found = cost_of(execution.pk)
    if not found:
        return None
    rows = [(each.currency, plain(each.amount), f"{each.tokens:,}") for each in found]
    return PageSection(
        gettext("Costs"),
        headers=(gettext("Currency"), gettext("Amount"), gettext("Tokens")),
        rows=rows,
    )


execution_panels.append(costs)


def _gather(workflow: Workflow, since: datetime) -> list[Spend]:
    entries = CostEntry.objects.filter(workflow_id=workflow.pk, created_at__gte=since)
    return totals(entries, "model")[:SHOWN]


def _rows(found: Iterable[Spend]) -> list[list[Cell]]:
    return [
        [
            each.key or gettext("no model"),
            f"{plain(each.amount)} {each.currency}",
            f"{each.tokens:,}",
            f"{each.entries:,}",
        ]
        for each in found
    ]


WORKFLOW_SECTIONS.append(
    WorkflowSection(
        title=lazy("Costs"),
        headers=(lazy("Model"), lazy("Cost"), lazy("Tokens"), lazy("Attempts")),
        empty=lazy("No costs in this period."),
        gather=_gather,
        rows=_rows,
    )
)
