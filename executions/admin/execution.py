"""Executions: a list with tabs for states, and a page with the operations and the history."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from executions import lifecycle
from executions.access import Action
from executions.admin import labels, links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.activity import done_to
from executions.admin.base import FactAdmin
from executions.admin.filters import (
    AgeFilter,
    EndedFilter,
    KindFilter,
    StateTabFilter,
    WorkflowFilter,
)
from executions.admin.labels import LabelFilter
from executions.admin.operations import AdminOperation, reveal_operation
from executions.admin.scope import may
from executions.admin.sections import (
    Page,
    PageSection,
    facts,
    json_section,
    payload_section,
    text_section,
)
from executions.admin.skin import MONITOR, display
from executions.admin.values import MASK, masked
from executions.audit.revealing import EXECUTION
from executions.labels.naming import in_search
from executions.language import lazy
from executions.models import WorkflowExecution
from executions.ports import Port, archived_page
from executions.states import (
    ACTIVE,
    FINAL,
    UNFINISHED,
    CapacityState,
    CompensationState,
    ExecutionState,
    Permission,
    TriggerType,
    VersionKind,
)

# Panels that higher apps add to the execution's page: (request, execution) → section, or None.
Panel = Callable[[HttpRequest, WorkflowExecution], PageSection | None]
panels: list[Panel] = []
# The live part of the page: its graph, its timeline, and the data of the selected step.
live_part: Port[[OperatingAdmin, HttpRequest, WorkflowExecution, str], SafeString] = Port(
    "executions.admin.execution.live_part", "runners"
)


CANCEL = AdminOperation(
    lifecycle.CANCEL,
    title=lazy("Cancel…"),
    icon="do_not_disturb_on",
    done=lazy("cancelled"),
    question=lazy(
        "Cancels running steps and discards their results, then runs the undo steps, if there are "
        "any. You cannot resume a cancelled execution."
    ),
    danger=True,
)
PAUSE = AdminOperation(
    lifecycle.PAUSE,
    title=lazy("Pause…"),
    icon="pause_circle",
    done=lazy("paused"),
    question=lazy("Running steps finish. No new steps start until you resume the execution."),
)
RESUME = AdminOperation(
    lifecycle.RESUME,
    title=lazy("Resume…"),
    icon="play_circle",
    done=lazy("resumed"),
    question=lazy("The execution continues from where it was paused."),
)


UNDO = AdminOperation(
    lifecycle.UNDO,
    title=lazy("Undo…"),
    icon="undo",
    done=lazy("being undone"),
    question=lazy(
        "Runs the undo steps of all successful steps, newest first. You can then no longer "
        "requeue the execution's dead letters."
    ),
    danger=True,
)


USUAL = 5  # the default priority, which the page does not show
# Limits of the title: the number of payload values, and the characters of one value and of all.
TITLE_VALUES, TITLE_VALUE, TITLE_LENGTH = 3, 24, 60
BODIES = ("body", "data", "payload", "input")
IDENTIFIES = re.compile(r"(?i)(id|key|number|code|reference|order|invoice)$")


class StateFilter(StateTabFilter):
    """Filter executions by state."""

    title = lazy("state")
    parameter_name = "state"
    groups = {
        "pending": ("PENDING",),
        "running": ("RUNNING",),
        "paused": ("PAUSED",),
        "succeeded": ("SUCCESS",),
        "failed": ("FAILED", "TIMEOUT"),
        "cancelled": ("CANCELLED",),
    }


# Filters that the index of labels does not support.
NARROWING = tuple(one.parameter_name for one in (KindFilter, EndedFilter))


def _states(request: HttpRequest) -> tuple[str, ...]:
    """Return the states of the chosen tab; an empty result means all states."""
    return StateFilter.groups.get(request.GET.get(StateFilter.parameter_name, ""), ())


def _compensation(row: WorkflowExecution) -> str:
    if not row.compensation:
        return ""
    label = str(CompensationState(row.compensation).label)
    if row.state in UNFINISHED:
        return gettext("{label}; ends as {state}").format(
            label=label, state=ExecutionState(row.ending).label
        )
    return label


def title_of(row: WorkflowExecution, *, shown: bool) -> str:
    """Return the workflow's name and the execution's subject, as a title.

    If the payload may be `shown`, the subject consists of some of the payload's values. Otherwise,
    or if there are none, it is the idempotency key or, without a key, the end of the ID.
    """
    values = ", ".join(_first_values(row.trigger_payload)) if shown else ""
    subject = values or row.idempotency_key or f"…{str(row.pk)[-8:]}"
    return f"{row.workflow} · {marks.clipped(subject, TITLE_LENGTH)}"


def _first_values(payload: Any) -> list[str]:
    """Return some simple values of a payload, without secrets, each preceded by its name."""
    # Likely identifiers first, because the database does not keep the order of an object's keys.
    found = sorted(_values(masked(payload)), key=lambda one: not IDENTIFIES.search(one[0]))
    return [f"{name} {text}" for name, text in found[:TITLE_VALUES]]


def _values(payload: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(payload, Mapping):
        return
    for name, value in payload.items():
        simple = isinstance(value, int | float) or (isinstance(value, str) and value)
        if simple and value != MASK and not str(name).startswith("$"):
            yield str(name), marks.clipped(_as_text(value), TITLE_VALUE)
    # In payloads of webhooks and events, the relevant values are one level deeper.
    for name in BODIES:
        yield from _values(payload.get(name))


def _as_text(value: Any) -> str:
    """Return a simple value as text: booleans as in JSON, and whole numbers without decimals."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _trigger(row: WorkflowExecution) -> SafeString | str:
    word = str(TriggerType(row.trigger_type).label)
    return links.to("executions_trigger", row.trigger_id, word) if row.trigger_id else word


def _slot(row: WorkflowExecution) -> str:
    """Return the state of a running or paused execution's slot if it is not HELD; otherwise ""."""
    usual = row.place == CapacityState.HELD or row.state not in ACTIVE
    return "" if usual else str(CapacityState(row.place).label)


def _is_test(row: WorkflowExecution) -> bool:
    return row.version.kind == VersionKind.TEST


PAGE = "executions_workflowexecution_change"


class _Archived(Exception):
    """The execution is in the archive, on the page with this address."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address


@admin.register(WorkflowExecution)
class WorkflowExecutionAdmin(OperatingAdmin, FactAdmin):
    """Executions, whose rows the engine owns; users cancel, pause, resume and undo them."""

    operations = (PAUSE, RESUME, CANCEL, UNDO, reveal_operation(WorkflowExecution, EXECUTION))
    list_display = ("short_id", "which", "mark", "trigger", "created", "duration", "error")
    list_display_links = ("short_id",)
    list_select_related = ("workflow", "version")
    list_filter = (StateFilter, WorkflowFilter, KindFilter, AgeFilter, EndedFilter, LabelFilter)
    list_before_template = "valkyr/tabs.html"
    list_defer = (
        "trigger_payload",
        "context_data",
        "output",
        "error_stack_trace",
        "metrics_snapshot",
        "workflow__definition",
        "version__source",
        "version__definition",
    )
    ordering = ("-id",)
    empty_text = lazy("No executions yet. Publish a workflow, then choose “Run…” on its page.")
    empty_about = lazy(
        "An execution is an instance of a workflow. Its page shows its steps, payload and output."
    )
    empty_links = ((lazy("Create a workflow from a template"), "valkyr-studio"),)
    search_ids = ("id", "workflow_id", "parent_id")
    search_texts = ("workflow__name", "workflow__slug")
    search_traces = ("trace_id",)

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Any:
        """Return the execution; on its page, raise `_Archived` if only the archive has it."""
        found = super().get_object(request, object_id, from_field)
        match = request.resolver_match
        is_page = match is not None and match.url_name == PAGE
        if found is None and is_page and archived_page.provided:
            address = archived_page(request, object_id)
            if address:
                raise _Archived(address)
        return found

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show the page, or redirect to the archive's page if retention deleted the execution."""
        try:
            answer: HttpResponse = super().changeform_view(
                request, object_id, form_url, extra_context
            )
        except _Archived as found:
            return HttpResponseRedirect(found.address)
        return answer

    def get_search_results(
        self, request: HttpRequest, queryset: Any, search_term: str
    ) -> tuple[Any, bool]:
        """Return the rows that match an ID, workflow or labels, and whether any may be repeated."""
        searched, rest = in_search(search_term)
        rows, duplicates = super().get_search_results(request, queryset, rest)
        narrowed = bool(rest) or any(request.GET.get(name) for name in NARROWING)
        found = labels.listed(request, rows, searched, _states(request), narrowed=narrowed)
        return found, duplicates

    def get_paginator(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Return the paginator; with labels, a paginator that reads only the shown page's rows."""
        return labels.paginator(request, super().get_paginator(request, *args, **kwargs))

    @display(description=lazy("execution"))
    def short_id(self, row: WorkflowExecution) -> Any:
        """Return the end of the ID, with the full ID on hover."""
        return marks.short(row.pk)

    @display(description=lazy("workflow"))
    def which(self, row: WorkflowExecution) -> Any:
        """Return the workflow and its version, with a mark for a test run."""
        name = marks.whole(marks.clipped(f"{row.workflow} v{row.version.number}", 50))
        return format_html("{} {}", name, marks.test_run()) if _is_test(row) else name

    @display(description=lazy("state"))
    def mark(self, row: WorkflowExecution) -> Any:
        """Return the mark of the execution's state."""
        return marks.state(row.state)

    @display(description=lazy("trigger"))
    def trigger(self, row: WorkflowExecution) -> str:
        """Return the type of the trigger that started the execution."""
        return str(TriggerType(row.trigger_type).label)

    @display(description=lazy("created"))
    def created(self, row: WorkflowExecution) -> Any:
        """Return the time since the execution was created."""
        return marks.ago(row.created_at)

    @display(description=lazy("duration"))
    def duration(self, row: WorkflowExecution) -> str:
        """Return how long the execution took, or has taken until now; a dash before its start."""
        return marks.between(row.started_at, row.finished_at)

    @display(description=lazy("error"))
    def error(self, row: WorkflowExecution) -> str:
        """Return the beginning of the error's message; a dash if there is no error."""
        return marks.clipped(row.error_message) or marks.EMPTY

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page: the live part, facts, panels of other apps, payloads and audit rows."""
        sections: list[PageSection] = []
        if obj.error_stack_trace and may(request, obj, Action.ADMINISTER):
            sections.append(text_section(gettext("Traceback"), obj.error_stack_trace, folded=True))
        sees = may(request, obj, Permission.VIEW_PAYLOADS)
        shown = [panel(request, obj) for panel in panels]
        sections += [section for section in shown if section is not None]
        sections += [
            payload_section(name, value, shown=sees, download=obj.pk)
            for name, value in (
                (gettext("Payload"), obj.trigger_payload),
                (gettext("Variables"), obj.context_data),
                (gettext("Output"), obj.output),
            )
            if value not in (None, {})
        ]
        if obj.metrics_snapshot:
            sections.append(json_section(gettext("Metrics"), obj.metrics_snapshot))
        sections.append(done_to(obj.pk))
        title = title_of(obj, shown=sees)
        top = live_part(self, request, obj, title)
        return Page([], facts(self._facts(obj)), sections, title, top=top)

    def leads_to(self, view: str, row: WorkflowExecution) -> bool:
        """Return whether the page has the view's button; archived workflows have no studio page."""
        return view != "studio" or row.workflow.archived_at is None

    def primary_of(self, row: WorkflowExecution) -> str:
        """Return "resume" if PAUSED, "replay" if ended but not FAILED, and "" in other states."""
        if row.state == ExecutionState.PAUSED:
            return "resume"
        return "replay" if row.state in FINAL and row.state != ExecutionState.FAILED else ""

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """Use the whole width for the page, and load the styles and the script of the live part."""
        context |= {"is_fullwidth": "1", "media": context["media"] + MONITOR}
        return super().render_change_form(request, context, *args, **kwargs)

    def _facts(self, obj: WorkflowExecution) -> list[tuple[str, Any]]:
        version = links.to("executions_workflowversion", obj.version_id, f"v{obj.version.number}")
        return [
            (gettext("Workflow"), links.to("executions_workflow", obj.workflow_id, obj.workflow)),
            (gettext("Version"), version),
            (gettext("Workspace"), str(obj.workspace)),
            (gettext("Trigger"), _trigger(obj)),
            (gettext("Created"), marks.ago(obj.created_at)),
            (gettext("Started"), marks.ago(obj.started_at)),
            (gettext("Finished"), marks.ago(obj.finished_at)),
            (gettext("Deadline"), marks.ago(obj.deadline_at) if obj.state in UNFINISHED else ""),
            (gettext("Priority"), "" if obj.priority == USUAL else str(obj.priority)),
            (gettext("Idempotency key"), marks.copyable(obj.idempotency_key)),
            (gettext("Concurrency key"), marks.copyable(obj.concurrency_key)),
            (gettext("Labels"), labels.shown(obj.labels)),
            (gettext("Slot"), _slot(obj)),
            (gettext("Rolled back"), marks.times(obj.epoch)),
            (gettext("Undo"), _compensation(obj)),
            (gettext("Trace"), marks.trace_mark(obj.trace_id)),
            (gettext("ID"), marks.copyable(obj.pk)),
        ]
