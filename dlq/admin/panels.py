"""The dead letters of an execution, on the execution's page."""

from django.http import HttpRequest

from dlq.admin.marks import resolution
from dlq.models import DeadLetterEntry
from executions.admin import execution as execution_admin
from executions.admin import links, marks
from executions.admin.sections import PageSection
from executions.models import WorkflowExecution

SHOWN = 50
HEADERS = ("Step", "State", "Why", "Since", "Resolved")


def dead_letters(request: HttpRequest, execution: WorkflowExecution) -> PageSection:
    """A row a dead letter, the newest first."""
    found = (
        DeadLetterEntry.objects.filter(execution=execution)
        .defer("original_inputs", "original_config")
        .order_by("-id")[:SHOWN]
    )
    return PageSection(
        "Dead letters",
        headers=HEADERS,
        rows=[
            [
                links.to("dlq_deadletterentry", entry.pk, marks.path(entry.step_path)),
                resolution(entry.resolution),
                marks.clipped(entry.failure_reason),
                marks.ago(entry.quarantined_at),
                marks.ago(entry.resolved_at),
            ]
            for entry in found
        ],
        empty="None: no step of this execution was given up.",
    )


execution_admin.panels.append(dead_letters)
