"""What a workflow's page of figures shows, as plain rows; each within bounds and in time."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from dlq.admin.dashboard.gathering import first_waiting
from dlq.models import DeadLetterEntry, Resolution
from executions.admin.paginator import bounded_count
from executions.figures.ranges import Range
from executions.figures.scope import Scope
from executions.models import Workflow, WorkflowExecution
from runners.budgets.report import totals
from runners.figures.patience import soon
from runners.figures.reading import read
from runners.figures.steps import newest, step_table
from runners.figures.versions import versions
from runners.models import CostEntry

Facts = dict[str, Any]


def gather(workflow: Workflow, wanted: Range) -> Facts:
    """The facts by name; None stands for what could not be had in time. The caller asked before."""
    now = timezone.now()
    since = wanted.window(now).start
    # With its workspace, which the small indexes of what is under way begin with.
    its = {"workflow_id": workflow.pk, "workspace_id": workflow.workspace_id}
    executions = WorkflowExecution.objects.filter(**its)
    letters = DeadLetterEntry.objects.filter(resolution=Resolution.PENDING, **its)
    costs = CostEntry.objects.filter(workflow_id=workflow.pk, created_at__gte=since)
    queries: dict[str, Callable[[], Any]] = {
        "figures": lambda: read(Scope(workflows=(workflow.pk,)), wanted, now),
        "running": lambda: bounded_count(executions.filter(state="RUNNING")),
        "waiting": lambda: bounded_count(executions.filter(state="PENDING")),
        "first_waiting": lambda: first_waiting(executions),
        "open": lambda: bounded_count(letters),
        "oldest": lambda: _oldest(letters),
        "steps": lambda: step_table(newest(workflow.pk, since)),
        "versions": lambda: versions(workflow.pk, since),
        "costs": lambda: totals(costs, "model"),
    }
    return {"at": now} | {name: soon(query) for name, query in queries.items()}


def _oldest(letters: QuerySet[DeadLetterEntry]) -> Any:
    rows = letters.order_by("quarantined_at").values_list("quarantined_at", flat=True)
    return rows.first()
