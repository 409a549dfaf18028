"""Runs: the attempts of each step, read-only, except that an operator can quarantine a live run."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from executions.admin import links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.activity import done_to
from executions.admin.base import FactAdmin
from executions.admin.filters import AgeFilter, StateTabFilter, WorkflowFilter
from executions.admin.operations import AdminOperation, reveal_operation
from executions.admin.scope import may
from executions.admin.search import FINDERS, by_id
from executions.admin.sections import Page, PageSection, facts, payload_section, text_section
from executions.admin.skin import display
from executions.definition.graph.places import split
from executions.language import lazy
from executions.states import Permission
from runners.admin.blocked import blocked
from runners.admin.steps import place_link, runs_in, said
from runners.api.runs import FIELDS
from runners.containers.child_executions import children_of
from runners.models import Run
from runners.states import HOLDS, WaitKind

# Texts about what a run waits for, or waited for, with a link to the user or page that can continue
# the run.


# For each kind of wait: what happens when its timer fires.
ENDS = {
    WaitKind.TIMER: lazy("continues"),
    WaitKind.APPROVAL: lazy("expires"),
    WaitKind.EVENT: lazy("expires"),
    WaitKind.CALLBACK: lazy("expires"),
    WaitKind.CIRCUIT: lazy("fails"),
    WaitKind.QUOTA: lazy("is checked again"),
}
NAMES = {
    WaitKind.APPROVAL: lazy("approval"),
    WaitKind.EVENT: lazy("an event"),
    WaitKind.CALLBACK: lazy("a callback"),
    WaitKind.CHILD: lazy("its child execution"),
    WaitKind.CIRCUIT: lazy("its target, whose circuit was open"),
    WaitKind.QUOTA: lazy("a quota"),
}
HELD_BY: dict[str, Callable[[Mapping[str, Any]], str]] = {}
"""By kind of wait, functions that name what holds a run, by its `progress`; plugins add more."""
PLAIN = {
    WaitKind.TIMER: lazy("Waits for a timer"),
    WaitKind.CHILD: lazy("Waits for its child execution"),
}


def wait_of(run: Run) -> SafeString | str:
    """Describe what a waiting run waits for.

    Return "" for other runs, and for a container with a running body.
    """
    if run.state != "WAITING" or run.waits_for == WaitKind.BODY:
        return ""
    kind = WaitKind(run.waits_for)
    ends: Any = ""
    if kind in ENDS:
        ends = gettext(", without a timeout")
        if run.due_at is not None:
            ends = format_html(", {} {}", ENDS[kind], marks.ago(run.due_at))
    decide: Any = ""
    if kind == WaitKind.APPROVAL:
        decide = format_html(" · {}", links.to("runners_approval", run.pk, gettext("Decide")))
    began = gettext("requested") if kind == WaitKind.APPROVAL else gettext("started")
    at = marks.ago(run.started_at)
    return format_html("{}, {} {}{}{}", _what(run, kind), began, at, ends, decide)


def waited_of(run: Run, wake: Mapping[str, Any]) -> str:
    """Describe how long a woken run waited, for what, and any decision; "" for other runs."""
    seconds = wake.get("waitedSeconds")
    if run.waits_for in ("", WaitKind.BODY) or seconds is None:
        return ""
    kind, span = WaitKind(run.waits_for), marks.span(timedelta(seconds=float(seconds)))
    if kind == WaitKind.TIMER:
        return gettext("Waited {span} for a timer").format(span=span)
    text = gettext("Waited {span} for {what}").format(span=span, what=NAMES[kind])
    if wake.get("by") == "timer" and kind not in HOLDS:
        return gettext("{text} and timed out").format(text=text)
    decision = wake.get("decision")
    if not decision:
        return text
    return gettext("{text}: {decision} by {actor}").format(
        text=text, decision=gettext(decision), actor=wake.get("actor")
    )


def _what(run: Run, kind: WaitKind) -> str:
    about = run.progress or {}
    title = marks.clipped(str(about.get("title") or ""))
    if kind in PLAIN:
        return PLAIN[kind]
    if kind == WaitKind.CIRCUIT:
        return gettext("Held: the circuit for {target} is open").format(
            target=marks.clipped(str(about.get("target", "")))
        )
    if kind in HOLDS:
        by = HELD_BY.get(kind)
        return (
            gettext("Held by the {by}").format(by=marks.clipped(by(about)))
            if by
            else gettext("Held back")
        )
    if kind == WaitKind.EVENT:
        return gettext("Waits for the event {event}").format(
            event=marks.clipped(str(about.get("event", "")))
        )
    if kind == WaitKind.APPROVAL:
        return gettext("Waits for approval: “{title}”").format(title=title)
    return (
        gettext("Waits for a callback: “{title}”").format(title=title)
        if title
        else gettext("Waits for a callback")
    )


# Short texts for a waiting run, by the kind of its wait.
ASLEEP: dict[str, str] = {
    WaitKind.BODY: lazy("running its body"),
    WaitKind.TIMER: lazy("awaits timer"),
    WaitKind.APPROVAL: lazy("awaits approval"),
    WaitKind.EVENT: lazy("awaits event"),
    WaitKind.CALLBACK: lazy("awaits callback"),
    WaitKind.CHILD: lazy("awaits child execution"),
    WaitKind.CIRCUIT: lazy("circuit open"),
    WaitKind.QUOTA: lazy("over quota"),
}


class StateFilter(StateTabFilter):
    """Filters runs by state."""

    title = lazy("state")
    parameter_name = "state"
    groups = {
        "pending": ("PENDING",),
        "running": ("RUNNING", "LEASED"),
        "waiting": ("WAITING",),
        "succeeded": ("SUCCESS",),
        "failed": ("FAILED",),
        "dead": ("DLQ",),
        "cancelled": ("CANCELLED",),
        "skipped": ("SKIPPED",),
    }


class RunWorkflowFilter(WorkflowFilter):
    """Filters runs by workflow."""

    path = "execution__workflow"


@admin.register(Run)
class RunAdmin(OperatingAdmin, FactAdmin):
    """The admin of runs; each run is one attempt of one step. Only the engine writes these rows."""

    operations: ClassVar[tuple[AdminOperation, ...]] = (reveal_operation(Run, FIELDS),)
    list_display = (
        "step", "mark", "workflow", "worker", "queue", "queued", "waited", "duration", "failure",
    )  # fmt: skip
    list_display_links = ("step",)
    list_select_related = ("execution__workflow",)
    list_filter = (StateFilter, RunWorkflowFilter, AgeFilter)
    list_before_template = "valkyr/tabs.html"
    list_defer = (
        "inputs",
        "outputs",
        "overrides",
        "logs",
        "error_details",
        "heartbeat_details",
        "execution__trigger_payload",
        "execution__context_data",
        "execution__output",
        "execution__metrics_snapshot",
        "execution__error_stack_trace",
        "execution__workflow__definition",
    )
    ordering = ("-id",)
    empty_text = lazy("No runs yet. Runs appear as soon as an execution starts.")
    search_ids = ("id", "execution_id")
    search_texts = ("step_path", "module")
    search_help_text = lazy("An ID, a step path, a module, or an execution ID and a path")

    def get_urls(self) -> list[Any]:
        """Return Django's URLs and the URL of the page of blocked work."""
        view = self.admin_site.admin_view(self.blocked)
        return [path("blocked/", view, name="runners_run_blocked"), *super().get_urls()]

    def blocked(self, request: HttpRequest) -> HttpResponse:
        """Return the page of blocked work. Raises PermissionDenied if the user may not see runs."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return blocked(request, self.admin_site.each_context(request))

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Search by execution ID and path prefix if both are given, otherwise as in other lists."""
        first, _, start = search_term.strip().partition(" ")
        try:
            execution = UUID(first)
        except ValueError:
            return super().get_search_results(request, queryset, search_term)
        if not start.strip():
            return super().get_search_results(request, queryset, search_term)
        rows = queryset.filter(execution_id=execution, step_path__startswith=start.strip())
        return rows, False

    @display(description=lazy("step"))
    def step(self, row: Run) -> Any:
        """Return the step's path and the number of the attempt."""
        return marks.path(f"{row.step_path} #{row.attempt}")

    @display(description=lazy("state"))
    def mark(self, row: Run) -> Any:
        """Return the badge of the run's state."""
        return state_of(row)

    @display(description=lazy("execution"))
    def workflow(self, row: Run) -> Any:
        """Return a link to the execution; the text of the link is the workflow's name."""
        address = links.page("executions_workflowexecution", row.execution_id)
        return links.link(address, marks.clipped(str(row.execution.workflow), 40))

    @display(description=lazy("worker"))
    def worker(self, row: Run) -> Any:
        """Return the name of the worker that holds or held the run's lease."""
        return marks.worker(row.leased_by)

    @display(description=lazy("queued"))
    def queued(self, row: Run) -> Any:
        """Return how long ago the run became ready."""
        return marks.ago(row.queued_at)

    @display(description=lazy("time in queue"))
    def waited(self, row: Run) -> str:
        """Return how long the run was ready before it started; a dash if it has not started."""
        return marks.between(row.queued_at, row.started_at) if row.started_at else marks.EMPTY

    @display(description=lazy("duration"))
    def duration(self, row: Run) -> str:
        """Return how long the run took, or how long it has been running."""
        return duration_of(row)

    @display(description=lazy("error"))
    def failure(self, row: Run) -> str:
        """Return the class and the first part of the error; a dash if there is no error."""
        return error_of(row)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """Return the page of one run."""
        sections: list[PageSection] = []
        if obj.error:
            sections.append(text_section(gettext("Error"), obj.error, error=True))
        sees = may(request, obj, Permission.VIEW_PAYLOADS)
        trace = (obj.error_details or {}).get("traceback")
        if trace:
            sections.append(text_section(gettext("Traceback"), str(trace), folded=True))
        sections += [
            payload_section(
                title,
                value,
                shown=sees,
                folded=title != gettext("Inputs"),
                download=obj.execution_id,
            )
            for title, value, always in (
                (gettext("Inputs"), obj.inputs, True),
                (gettext("Outputs"), obj.outputs, True),
                (gettext("Overrides"), obj.overrides, False),
                (gettext("Logs"), obj.logs, False),
                (gettext("Heartbeat details"), obj.heartbeat_details, False),
                (gettext("Error details"), obj.error_details, False),
            )
            if always or value
        ]
        sections.append(done_to(obj.pk))
        lead = [
            marks.state(obj.state),
            gettext("{step_path}, attempt {attempt}, {module}").format(
                step_path=obj.step_path, attempt=obj.attempt, module=obj.module
            ),
        ]
        return Page(lead, facts(self._facts(obj)), sections)

    def _facts(self, obj: Run) -> list[tuple[str, Any]]:
        # With this link, the execution's page selects this run in its graph and its timeline.
        address = links.page("executions_workflowexecution", obj.execution_id)
        execution = links.link(f"{address}?run={obj.pk}", obj.execution.workflow)
        return [
            (gettext("Execution"), execution),
            *_place(obj),
            (gettext("Outcome"), obj.outcome),
            (gettext("Worker"), obj.leased_by),
            (gettext("Queue"), obj.queue),
            (gettext("Queued"), marks.ago(obj.queued_at)),
            (gettext("Started"), marks.ago(obj.started_at)),
            (gettext("Finished"), marks.ago(obj.finished_at)),
            (gettext("Time in queue"), self.waited(obj)),
            (gettext("Duration"), duration_of(obj)),
            *_wait(obj),
            (gettext("Retry after"), marks.ago(obj.retry_after)),
            (gettext("Lease expires"), marks.ago(obj.lease_until)),
            (gettext("Heartbeat"), marks.ago(obj.heartbeat_at)),
            (gettext("Lease token"), str(obj.lease_token)),
            (gettext("Recoveries"), str(obj.recoveries)),
            (gettext("Crashes"), _crashes(obj)),
            (gettext("Broker messages"), str(obj.publications)),
            (gettext("Segment"), obj.segment),
            (gettext("Cached result from"), obj.cached_from and _run(obj.cached_from)),
            (gettext("Idempotency key"), marks.copyable(obj.idempotency_key)),
            (gettext("ID"), marks.copyable(obj.pk)),
        ]


def _run(pk: UUID) -> Any:
    return links.to("runners_run", pk, pk)


def _crashes(obj: Run) -> str:
    """Return how often the run crashed, the last cause, and whether the run is a suspect."""
    said = f"{obj.crashes}: {obj.crash_cause}" if obj.crashes else "0"
    return (
        gettext("{said} (suspect: runs in a separate process)").format(said=said)
        if obj.suspect
        else said
    )


def _place(obj: Run) -> list[tuple[str, Any]]:
    """Return the run's place and, for a container, its progress and a link to the body's runs."""
    place = split(obj.step_path)[0]
    found: list[tuple[str, Any]] = [
        (
            gettext("Location"),
            place_link(obj.execution_id, place, place.rstrip(".") or gettext("the workflow")),
        )
    ]
    if obj.waits_for == WaitKind.BODY:
        stem = obj.step_path.rpartition(".")[0] + "["
        found.append((gettext("Progress"), said(obj, None, "")))
        found.append(
            (
                gettext("Body"),
                links.link(runs_in(obj.execution_id, stem), gettext("list its runs")),
            )
        )
    return found


def _wait(obj: Run) -> list[tuple[str, Any]]:
    """Return the run's current or last wait, and its child execution, as labelled values."""
    child = children_of(obj.execution_id, [obj]).get(obj.pk)
    told = wait_of(obj) or waited_of(obj, obj.wake or {})
    found: list[tuple[str, Any]] = [(gettext("Wait"), told)] if told else []
    if child is not None:
        where = links.to("executions_workflowexecution", child.id, f"{child.workflow} {child.id}")
        found.append(
            (gettext("Child execution"), format_html("{} {}", where, marks.state(child.state)))
        )
    return found


def state_of(row: Run) -> Any:
    """Return the badge of the run's state; for a pending retry, with its number and delay."""
    if row.superseded:
        return marks.state(
            row.state, gettext("{state}, rolled back").format(state=marks.MARKS[row.state][0])
        )
    if row.state == "WAITING":
        return marks.state(row.state, ASLEEP.get(row.waits_for, ""))
    if row.state != "PENDING" or row.attempt == row.budget_start:
        return marks.state(row.state)
    word = gettext("retry {attempt}").format(attempt=row.attempt - row.budget_start)
    now = timezone.now()
    if row.retry_after is not None and row.retry_after > now:
        word = gettext("{word}, in {span}").format(
            word=word, span=marks.span(row.retry_after - now)
        )
    return marks.mark(word, "autorenew", "amber")


def duration_of(row: Run) -> str:
    """Return a run's duration (including a container's body); a dash if skipped or not started."""
    if row.state == "SKIPPED":
        return marks.EMPTY
    awake = row.state != "WAITING" and row.waits_for != WaitKind.BODY
    if row.duration_ms is not None and awake:
        return marks.took(row.duration_ms)
    return marks.between(row.started_at, row.finished_at)


def error_of(row: Run) -> str:
    """Return the error's class and the beginning of its message; a dash if there is no error."""
    if not row.error:
        return marks.EMPTY
    return marks.clipped(f"{row.error_type}: {row.error}" if row.error_type else row.error)


FINDERS.append(by_id(Run, lazy("run"), "list_alt"))
