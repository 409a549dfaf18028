"""The list of dead letters: its columns, filters and search; it opens on what is open."""

from typing import Any

from django.utils.html import format_html
from unfold.decorators import display

from dlq.admin.marks import resolution
from dlq.models import DeadLetterEntry
from executions.admin import links, marks
from executions.admin.engine import ScopedAdmin
from executions.admin.filters import AgeFilter, TabFilter, WorkflowFilter


class ResolutionFilter(TabFilter):
    """Dead letters by what became of them; the open ones unless asked otherwise."""

    title = "state"
    parameter_name = field = "resolution"
    default = "open"
    groups = {
        "open": ("PENDING",),
        "requeued": ("REQUEUED",),
        "fixed": ("FIXED",),
        "discarded": ("DISCARDED",),
    }


class EntryList(ScopedAdmin):
    """What the list of dead letters shows and how it is narrowed."""

    list_display = ("error", "where", "mark", "kind", "attempts", "age")
    list_display_links = ("error",)
    list_select_related = ("workflow",)
    list_filter = (ResolutionFilter, "failure_type", WorkflowFilter, AgeFilter)
    list_before_template = "valkyr/tabs.html"
    list_defer = ("original_inputs", "original_config", "workflow__definition")
    ordering = ("-id",)
    empty_text = "Nothing in the dead-letter queue: no step was given up."
    search_ids = ("id", "execution_id", "run_id")
    search_texts = ("step_path", "failure_reason", "fingerprint")

    @display(description="error")
    def error(self, row: DeadLetterEntry) -> Any:
        """The class in bold, the message below."""
        return format_html(
            '<span class="vk-error-type">{}</span><span class="vk-error-text">{}</span>',
            row.error_type or row.get_failure_type_display(),
            marks.clipped(row.failure_reason),
        )

    @display(description="workflow, step")
    def where(self, row: DeadLetterEntry) -> Any:
        """Where it failed; the link leads to the execution."""
        address = links.page("executions_workflowexecution", row.execution_id)
        return format_html("{}<br>{}", links.link(address, row.workflow), marks.path(row.step_path))

    @display(description="state")
    def mark(self, row: DeadLetterEntry) -> Any:
        """The resolution's word, icon and colour."""
        return resolution(row.resolution)

    @display(description="why")
    def kind(self, row: DeadLetterEntry) -> Any:
        """Why it was given up."""
        return marks.whole(str(row.get_failure_type_display()))

    @display(description="age")
    def age(self, row: DeadLetterEntry) -> Any:
        """Since when it is dead."""
        return marks.ago(row.quarantined_at)
