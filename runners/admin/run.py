"""Runs: what each attempt of each step did, to read; a live one can be quarantined by hand."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display

from executions.admin import links, marks
from executions.admin.engine import FactAdmin
from executions.admin.filters import AgeFilter, TabFilter, WorkflowFilter
from executions.admin.operating import OperatingAdmin
from executions.admin.sections import Page, Section, facts, json_section, text_section
from runners.models import Run
from runners.states import WaitKind


class StateFilter(TabFilter):
    """Runs by state."""

    title = "state"
    parameter_name = field = "state"
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

    @display(description="step")
    def step(self, row: Run) -> Any:
        """The step and which attempt."""
        return marks.whole(f"{row.step_path} #{row.attempt}")

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

    @display(description="waited")
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
        sections: list[Section] = []
        if obj.error:
            sections.append(text_section("Error", obj.error, error=True))
        trace = (obj.error_details or {}).get("traceback")
        if trace:
            sections.append(text_section("Traceback", str(trace), folded=True))
        sections += [
            json_section("Inputs", obj.inputs, folded=False),
            json_section("Outputs", obj.outputs),
            *([json_section("Overrides", obj.overrides)] if obj.overrides is not None else []),
            *([json_section("Logs", obj.logs)] if obj.logs else []),
            *([json_section("Error details", obj.error_details)] if obj.error_details else []),
        ]
        lead = [marks.state(obj.state), f"{obj.step_path}, attempt {obj.attempt}, {obj.module}"]
        return Page(lead, facts(self._facts(obj)), sections)

    def _facts(self, obj: Run) -> list[tuple[str, Any]]:
        execution = links.to(
            "executions_workflowexecution", obj.execution_id, obj.execution.workflow
        )
        return [
            ("Execution", execution),
            ("Outcome", obj.outcome),
            ("Worker", obj.leased_by),
            ("Queue", obj.queue),
            ("Queued", marks.ago(obj.queued_at)),
            ("Started", marks.ago(obj.started_at)),
            ("Finished", marks.ago(obj.finished_at)),
            ("Waited", self.waited(obj)),
            ("Duration", duration_of(obj)),
            ("Waits for", waits_for(obj)),
            ("Waits until", marks.ago(obj.due_at) if obj.state == "WAITING" else ""),
            ("Retry after", marks.ago(obj.retry_after)),
            ("Lease until", marks.ago(obj.lease_until)),
            ("Heartbeat", marks.ago(obj.heartbeat_at)),
            ("Lease token", str(obj.lease_token)),
            ("Recoveries", str(obj.recoveries)),
            ("Publications", str(obj.publications)),
            ("Segment", obj.segment),
            ("Result of run", marks.copyable(obj.cached_from)),
            ("Idempotency key", marks.copyable(obj.idempotency_key)),
            ("Id", marks.copyable(obj.pk)),
        ]


def state_of(row: Run) -> Any:
    """The run's mark; a retry says which one it is, and how long it backs off."""
    if row.state != "PENDING" or row.attempt == row.budget_start:
        return marks.state(row.state)
    word = f"retry {row.attempt - row.budget_start}"
    now = timezone.now()
    if row.retry_after is not None and row.retry_after > now:
        word = f"{word}, in {marks.span(row.retry_after - now)}"
    return marks.mark(word, "autorenew", "amber")


def duration_of(row: Run) -> str:
    """The recorded duration, or how long it runs; a skipped step has none."""
    if row.state == "SKIPPED":
        return marks.EMPTY
    if row.duration_ms is not None:
        return marks.took(row.duration_ms)
    return marks.between(row.started_at, row.finished_at)


def waits_for(row: Run) -> Any:
    """What a waiting run waits for, in words; a link where somebody can decide."""
    if row.state != "WAITING":
        return ""
    about = row.progress or {}
    if row.waits_for == WaitKind.APPROVAL:
        return links.to("runners_approval", row.pk, f"approval: {about.get('title', '')}")
    name = about.get("event") or about.get("title")
    return f"{row.waits_for}: {name}" if name else row.waits_for


def error_of(row: Run) -> str:
    """The class and the beginning of the message, or a dash."""
    if not row.error:
        return marks.EMPTY
    return marks.clipped(f"{row.error_type}: {row.error}" if row.error_type else row.error)
