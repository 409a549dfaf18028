"""Runs: what each attempt of each step did, to read; a live one can be quarantined by hand."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from executions import addresses
from executions.admin import links, marks
from executions.admin.actions import OperatingAdmin
from executions.admin.activity import done_to
from executions.admin.base import FactAdmin
from executions.admin.filters import AgeFilter, StateTabFilter, WorkflowFilter
from executions.admin.operations import AdminOperation, reveal_operation
from executions.admin.scope import may
from executions.admin.sections import Page, PageSection, facts, payload_section, text_section
from executions.admin.skin import display
from executions.definition.graph.places import split
from executions.states import Permission
from runners.admin.steps import place_link, runs_in, said
from runners.api.runs import FIELDS
from runners.containers.child_executions import children_of
from runners.models import Run
from runners.states import HOLDS, WaitKind

# What a run waits for, or waited for, in words; with a link to whoever can let it go on.


# How a wait by a timer of its own ends.
ENDS = {
    WaitKind.TIMER: "wakes",
    WaitKind.APPROVAL: "expires",
    WaitKind.EVENT: "gives up",
    WaitKind.CALLBACK: "gives up",
    WaitKind.CIRCUIT: "is given up",
    WaitKind.QUOTA: "asks again",
}
NAMES = {
    WaitKind.APPROVAL: "approval",
    WaitKind.EVENT: "an event",
    WaitKind.CALLBACK: "a call from outside",
    WaitKind.CHILD: "its child",
    WaitKind.CIRCUIT: "its target, which rested",
    WaitKind.QUOTA: "a quota",
}
HELD_BY: dict[str, Callable[[Mapping[str, Any]], str]] = {}
"""What holds a run back in a few words, made of its `progress`, by kind; plugins add to it."""
PLAIN = {WaitKind.TIMER: "Sleeps", WaitKind.CHILD: "Waits for its child"}


def wait_of(run: Run) -> SafeString | str:
    """The wait of a run that waits; "" for others, and for a container, whose body runs."""
    if run.state != "WAITING" or run.waits_for == WaitKind.BODY:
        return ""
    kind = WaitKind(run.waits_for)
    ends: Any = ""
    if kind in ENDS:
        ends = ", for as long as it takes"
        if run.due_at is not None:
            ends = format_html(", {} {}", ENDS[kind], marks.ago(run.due_at))
    decide: Any = ""
    if kind == WaitKind.APPROVAL:
        decide = format_html(" · {}", links.to("runners_approval", run.pk, "Decide"))
    began = "asked" if kind == WaitKind.APPROVAL else "began"
    at = marks.ago(run.started_at)
    return format_html("{}, {} {}{}{}", _what(run, kind), began, at, ends, decide)


def waited_of(run: Run, wake: Mapping[str, Any]) -> str:
    """How long a run that was woken had waited, for what, and what came; "" for others."""
    seconds = wake.get("waitedSeconds")
    if run.waits_for in ("", WaitKind.BODY) or seconds is None:
        return ""
    kind, span = WaitKind(run.waits_for), marks.span(timedelta(seconds=float(seconds)))
    if kind == WaitKind.TIMER:
        return f"Slept {span}"
    text = f"Waited {span} for {NAMES[kind]}"
    if wake.get("by") == "timer" and kind not in HOLDS:
        return f"{text}, in vain"
    decision = wake.get("decision")
    return f"{text}: {decision} by {wake.get('actor')}" if decision else text


def _what(run: Run, kind: WaitKind) -> str:
    about = run.progress or {}
    title = marks.clipped(str(about.get("title") or ""))
    if kind in PLAIN:
        return PLAIN[kind]
    if kind == WaitKind.CIRCUIT:
        return f"Held: {marks.clipped(str(about.get('target', '')))} rests"
    if kind in HOLDS:
        by = HELD_BY.get(kind)
        return f"Held by the {marks.clipped(by(about))}" if by else "Held back"
    if kind == WaitKind.EVENT:
        return f"Waits for the event {marks.clipped(str(about.get('event', '')))}"
    if kind == WaitKind.APPROVAL:
        return f"Waits for approval: “{title}”"
    return f"Waits for a call from outside: “{title}”" if title else "Waits for a call from outside"


# A waiting run in a word.
ASLEEP: dict[str, str] = {
    WaitKind.BODY: "in its body",
    WaitKind.TIMER: "asleep",
    WaitKind.APPROVAL: "awaits approval",
    WaitKind.EVENT: "awaits event",
    WaitKind.CALLBACK: "awaits call",
    WaitKind.CHILD: "awaits child",
    WaitKind.CIRCUIT: "target rests",
    WaitKind.QUOTA: "over quota",
}


class StateFilter(StateTabFilter):
    """Runs by state."""

    title = "state"
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
    """Runs of one workflow."""

    path = "execution__workflow"


@admin.register(Run)
class RunAdmin(OperatingAdmin, FactAdmin):
    """One attempt of one step; the engine alone writes these rows."""

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
    empty_text = "No runs yet: they appear as soon as an execution starts."
    search_ids = ("id", "execution_id")
    search_texts = ("step_path", "module")
    search_help_text = "An id, a path, or an execution's id and refine[2]"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """As elsewhere, and the runs of one execution whose paths begin with a text."""
        first, _, start = search_term.strip().partition(" ")
        try:
            execution = UUID(first)
        except ValueError:
            return super().get_search_results(request, queryset, search_term)
        if not start.strip():
            return super().get_search_results(request, queryset, search_term)
        rows = queryset.filter(execution_id=execution, step_path__startswith=start.strip())
        return rows, False

    @display(description="step")
    def step(self, row: Run) -> Any:
        """The step and which attempt."""
        return marks.path(f"{row.step_path} #{row.attempt}")

    @display(description="state")
    def mark(self, row: Run) -> Any:
        """The state's word, icon and colour."""
        return state_of(row)

    @display(description="execution")
    def workflow(self, row: Run) -> Any:
        """The execution's page, under its workflow's name."""
        address = links.page("executions_workflowexecution", row.execution_id)
        return links.link(address, marks.clipped(str(row.execution.workflow), 40))

    @display(description="worker")
    def worker(self, row: Run) -> Any:
        """Who has, or had, it."""
        return marks.worker(row.leased_by)

    @display(description="queued")
    def queued(self, row: Run) -> Any:
        """How long ago it was ready."""
        return marks.ago(row.queued_at)

    @display(description="in the queue")
    def waited(self, row: Run) -> str:
        """From ready to started."""
        return marks.between(row.queued_at, row.started_at) if row.started_at else marks.EMPTY

    @display(description="duration")
    def duration(self, row: Run) -> str:
        """How long it worked, or works."""
        return duration_of(row)

    @display(description="error")
    def failure(self, row: Run) -> str:
        """The class and beginning of the error."""
        return error_of(row)

    def page(self, request: HttpRequest, obj: Any) -> Page:
        """All that is known of one attempt."""
        sections: list[PageSection] = []
        if obj.error:
            sections.append(text_section("Error", obj.error, error=True))
        sees = may(request, obj, Permission.VIEW_PAYLOADS)
        trace = (obj.error_details or {}).get("traceback")
        if trace:
            sections.append(text_section("Traceback", str(trace), folded=True))
        sections += [
            payload_section(title, value, shown=sees, folded=title != "Inputs")
            for title, value, always in (
                ("Inputs", obj.inputs, True),
                ("Outputs", obj.outputs, True),
                ("Overrides", obj.overrides, False),
                ("Logs", obj.logs, False),
                ("Heartbeat details", obj.heartbeat_details, False),
                ("Error details", obj.error_details, False),
            )
            if always or value
        ]
        sections.append(done_to(obj.pk))
        lead = [marks.state(obj.state), f"{obj.step_path}, attempt {obj.attempt}, {obj.module}"]
        return Page(lead, facts(self._facts(obj)), sections)

    def _facts(self, obj: Run) -> list[tuple[str, Any]]:
        execution = links.to(
            "executions_workflowexecution", obj.execution_id, obj.execution.workflow
        )
        return [
            ("Execution", execution),
            ("Monitor", _monitor(obj)),
            *_place(obj),
            ("Outcome", obj.outcome),
            ("Worker", obj.leased_by),
            ("Queue", obj.queue),
            ("Queued", marks.ago(obj.queued_at)),
            ("Started", marks.ago(obj.started_at)),
            ("Finished", marks.ago(obj.finished_at)),
            ("In the queue", self.waited(obj)),
            ("Duration", duration_of(obj)),
            *_wait(obj),
            ("Retry after", marks.ago(obj.retry_after)),
            ("Lease until", marks.ago(obj.lease_until)),
            ("Heartbeat", marks.ago(obj.heartbeat_at)),
            ("Lease token", str(obj.lease_token)),
            ("Recoveries", str(obj.recoveries)),
            ("Crashes", _crashes(obj)),
            ("Publications", str(obj.publications)),
            ("Segment", obj.segment),
            ("Result of run", obj.cached_from and _run(obj.cached_from)),
            ("Idempotency key", marks.copyable(obj.idempotency_key)),
            ("Id", marks.copyable(obj.pk)),
        ]


def _run(pk: UUID) -> Any:
    return links.to("runners_run", pk, pk)


def _crashes(obj: Run) -> str:
    """How often it ended its process, how, and what follows from it."""
    said = f"{obj.crashes}: {obj.crash_cause}" if obj.crashes else "0"
    return f"{said} (suspect: runs in a process of its own)" if obj.suspect else said


def _monitor(obj: Run) -> Any:
    """The execution's monitor with this run selected."""
    address = addresses.admin("executions_workflowexecution_monitor", obj.execution_id)
    return links.link(f"{address}?run={obj.pk}", "Watch it among the others")


def _place(obj: Run) -> list[tuple[str, Any]]:
    """The iteration or item that the run belongs to, and what is inside it."""
    place = split(obj.step_path)[0]
    found: list[tuple[str, Any]] = [
        ("Place", place_link(obj.execution_id, place, place.rstrip(".") or "the workflow"))
    ]
    if obj.waits_for == WaitKind.BODY:
        stem = obj.step_path.rpartition(".")[0] + "["
        found.append(("Progress", said(obj, None, "")))
        found.append(("Body", links.link(runs_in(obj.execution_id, stem), "its runs as a list")))
    return found


def _wait(obj: Run) -> list[tuple[str, Any]]:
    """What the run waits or waited for, and the execution it started."""
    child = children_of(obj.execution_id, [obj]).get(obj.pk)
    told = wait_of(obj) or waited_of(obj, obj.wake or {})
    found: list[tuple[str, Any]] = [("Wait", told)] if told else []
    if child is not None:
        where = links.to("executions_workflowexecution", child.id, f"{child.workflow} {child.id}")
        found.append(("Child", format_html("{} {}", where, marks.state(child.state))))
    return found


def state_of(row: Run) -> Any:
    """The run's mark; a retry says which one it is, and how long it backs off."""
    if row.superseded:
        return marks.state(row.state, f"{marks.MARKS[row.state][0]}, rolled back")
    if row.state == "WAITING":
        return marks.state(row.state, ASLEEP.get(row.waits_for, ""))
    if row.state != "PENDING" or row.attempt == row.budget_start:
        return marks.state(row.state)
    word = f"retry {row.attempt - row.budget_start}"
    now = timezone.now()
    if row.retry_after is not None and row.retry_after > now:
        word = f"{word}, in {marks.span(row.retry_after - now)}"
    return marks.mark(word, "autorenew", "amber")


def duration_of(row: Run) -> str:
    """How long it worked, works or sleeps; a container, with its body; a skipped step, nothing."""
    if row.state == "SKIPPED":
        return marks.EMPTY
    awake = row.state != "WAITING" and row.waits_for != WaitKind.BODY
    if row.duration_ms is not None and awake:
        return marks.took(row.duration_ms)
    return marks.between(row.started_at, row.finished_at)


def error_of(row: Run) -> str:
    """The class and the beginning of the message, or a dash."""
    if not row.error:
        return marks.EMPTY
    return marks.clipped(f"{row.error_type}: {row.error}" if row.error_type else row.error)
