"""The runs of an execution, on the execution's page."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join

from executions.admin import execution as execution_admin
from executions.admin import links, marks
from executions.admin.sections import Section
from executions.models import WorkflowExecution
from runners.admin.run import duration_of, error_of, state_of
from runners.models import Run

SHOWN = 200
HEADERS = ("Step", "Attempt", "State", "Worker", "Queued", "Started", "Duration", "Error")
COLUMNS = (
    "id", "step_path", "attempt", "budget_start", "state", "leased_by", "queued_at", "started_at",
    "finished_at", "duration_ms", "error", "error_type", "execution_id", "retry_after",
)  # fmt: skip


def runs(request: HttpRequest, execution: WorkflowExecution) -> Section:
    """A row an attempt, in the order in which they were ready; the first `SHOWN`."""
    found = list(
        Run.objects.filter(execution=execution)
        .only(*COLUMNS)
        .order_by("queued_at", "id")[: SHOWN + 1]
    )
    everything = links.listing("runners_run", q=str(execution.pk))
    pointers = [(everything, "All runs as a list"), (settings.FLOWER_URL, "Celery's view: Flower")]
    more = format_html_join(" · ", "{}", ((links.link(*pointer),) for pointer in pointers))
    if len(found) > SHOWN:
        more = format_html("The first {} are shown. {}", SHOWN, more)
    return Section(
        "Runs",
        headers=HEADERS,
        rows=[_row(run) for run in found[:SHOWN]],
        empty="Nothing has been planned yet.",
        more=more,
    )


def _row(run: Run) -> list[str]:
    return [
        links.to("runners_run", run.pk, run.step_path),
        str(run.attempt),
        state_of(run),
        marks.worker(run.leased_by),
        marks.ago(run.queued_at),
        marks.ago(run.started_at),
        duration_of(run),
        error_of(run),
    ]


execution_admin.panels.append(runs)
