"""The admin of dead letters: a list, and a page for each with its failure and operations."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html

from dlq.admin.attempts import sentence
from dlq.admin.entry_filters import (
    EntryFieldsFilter,
    InputsForm,
    ResolutionFilter,
    resolution_counts,
)
from dlq.admin.entry_links import entry_links
from dlq.admin.entry_operations import ALL
from dlq.admin.entry_page import AROUND, entry_facts, marked, panels
from dlq.admin.exporting import CopyingAdmin, ExportingAdmin
from dlq.admin.status_labels import resolution
from dlq.admin.triage_list import TriageList
from dlq.browse import entry_reads
from dlq.browse.entry_reads import REVEALED_FIELDS
from dlq.models import DeadLetterEntry
from executions.admin import links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.base import FactAdmin
from executions.admin.operations import reveal_operation
from executions.admin.scope import may
from executions.admin.search import FINDERS, by_id
from executions.admin.sections import Page, facts
from executions.admin.skin import display
from executions.language import lazy
from executions.states import Permission

# The list of dead letters, with its columns, filters and search; it shows open dead letters by
# default.


PATH = "input_path"


class EntryList(TriageList):
    """The columns and filters of the list of dead letters."""

    list_display = ("error", "where", "mark", "kind", "attempts", "age")
    list_display_links = ("error",)
    list_select_related = ("workflow",)
    list_filter = (ResolutionFilter, EntryFieldsFilter)
    list_defer = ("original_inputs", "original_config", "workflow__definition")
    ordering = ("-id",)
    empty_text = lazy("The dead-letter queue is empty.")
    search_ids = ("id", "execution_id", "run_id")
    search_texts = ("step_path", "failure_reason", "fingerprint")

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show the list; if a condition on inputs was submitted, redirect to the narrowed list."""
        asking = InputsForm(request.GET if PATH in request.GET else None)
        if request.method == "GET" and asking.is_bound and asking.is_valid():
            return HttpResponseRedirect(_with_condition(request, asking))
        request.GET = _without(request, *asking.fields)
        answer = super().changelist_view(request, extra_context)
        context = getattr(answer, "context_data", None) or {}
        if "triage" in context and context["triage"]["form"].sees_payloads:
            context["triage"]["asking"] = asking
        return answer

    def tab_counts(self, request: HttpRequest, changelist: Any) -> dict[str, int | str]:
        """Return the number of dead letters in each tab."""
        return resolution_counts(self.behind_tabs(request, changelist))

    @display(description=lazy("error"))
    def error(self, row: DeadLetterEntry) -> Any:
        """Return the error's class, or else its type, in bold, with the error's message below."""
        return format_html(
            '<span class="vk-error-type">{}</span><span class="vk-error-text">{}</span>',
            row.exception or row.error_type or row.get_failure_type_display(),
            marks.clipped(row.failure_reason),
        )

    @display(description=lazy("workflow, step"))
    def where(self, row: DeadLetterEntry) -> Any:
        """Return the workflow, linked to the execution, and the path of the failed step."""
        address = links.page("executions_workflowexecution", row.execution_id)
        return format_html("{}<br>{}", links.link(address, row.workflow), marks.path(row.step_path))

    @display(description=lazy("state"))
    def mark(self, row: DeadLetterEntry) -> Any:
        """Return the resolution's label, icon and colour."""
        return resolution(row.resolution)

    @display(description=lazy("reason"))
    def kind(self, row: DeadLetterEntry) -> Any:
        """Return the failure type's label."""
        return marks.whole(str(row.get_failure_type_display()))

    @display(description=lazy("age"))
    def age(self, row: DeadLetterEntry) -> Any:
        """Return how long ago the dead letter was created."""
        return marks.ago(row.quarantined_at)


def _with_condition(request: HttpRequest, asking: InputsForm) -> str:
    """Return the URL of the list with the form's condition on the inputs added."""
    query = _without(request, *asking.fields)
    text = asking.cleaned_data["condition"].as_text
    if text not in query.getlist("inputs"):
        query.appendlist("inputs", text)
    return f"{request.path}?{query.urlencode()}"


def _without(request: HttpRequest, *names: str) -> Any:
    query = request.GET.copy()
    for name in names:
        query.pop(name, None)
    return query


@admin.register(DeadLetterEntry)
class DeadLetterEntryAdmin(ExportingAdmin, EntryList, CopyingAdmin, OperatingAdmin, FactAdmin):
    """The admin of dead letters: the engine creates them; users resolve them and write notes."""

    operations = (*ALL, reveal_operation(DeadLetterEntry, REVEALED_FIELDS))

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of a dead letter, and record its first view."""
        entry_reads.note_first_look(request, obj)
        sees = may(request, obj, Permission.VIEW_PAYLOADS)
        lead = [marked(obj), sentence(obj), entry_links(obj)]
        first, below = panels(request, obj, sees=sees)
        title = f"{obj.workflow} · {obj.step_path}"
        return Page(lead, facts(entry_facts(obj)), below, title=title, first=first)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Return the rows; for the page of one entry, the query also loads its related rows."""
        rows = super().get_queryset(request)
        match = request.resolver_match
        if match is None or not (match.url_name or "").endswith("_change"):
            return rows
        return rows.select_related(*AROUND)


FINDERS.append(by_id(DeadLetterEntry, lazy("dead letter"), "inbox", "execution_id"))
