"""One plain sentence of what failed, and the attempts that led to it."""

from django.utils.html import format_html
from django.utils.safestring import SafeString

from dlq.models import DeadLetterEntry
from executions.admin import links, marks
from executions.admin.sections import Section
from runners.admin.run import duration_of, error_of, state_of
from runners.models import Run

SHOWN = 50
HEADERS = ("Attempt", "State", "Worker", "Queued", "Duration", "Error")


def sentence(entry: DeadLetterEntry) -> SafeString:
    """What failed, where, after how many attempts, since when."""
    tries = "1 attempt" if entry.attempts == 1 else f"{entry.attempts} attempts"
    return format_html(
        "Step <strong>{}</strong> ({}) of {} was given up after {}, {}: {}.",
        entry.step_path,
        entry.module,
        links.to("executions_workflow", entry.workflow_id, entry.workflow),
        tries,
        marks.ago(entry.quarantined_at),
        str(entry.get_failure_type_display()),
    )


def attempts_section(entry: DeadLetterEntry) -> Section:
    """Every attempt of the step in its execution, the requeued ones too."""
    runs = (
        Run.objects.filter(execution_id=entry.execution_id, step_path=entry.step_path)
        .defer("inputs", "outputs", "overrides", "logs", "error_details", "heartbeat_details")
        .order_by("queued_at", "id")[:SHOWN]
    )
    rows = [
        [
            links.to("runners_run", run.pk, f"attempt {run.attempt}"),
            state_of(run),
            marks.worker(run.leased_by),
            marks.ago(run.queued_at),
            duration_of(run),
            error_of(run),
        ]
        for run in runs
    ]
    return Section("Attempts", headers=HEADERS, rows=rows)
