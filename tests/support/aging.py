"""Executions that ended a number of days ago, with their rows."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from executions.models import Workflow, WorkflowExecution
from runners.models import Run
from tests.support import admin_rows
from valkyr_plugins.timetravel.models import Checkpoint


def aged(of: Workflow, days: float, state: str = "SUCCESS", **values: Any) -> WorkflowExecution:
    """Create an execution that ended `days` days ago, with two runs and a checkpoint.

    With `days` of -1, the execution is still running.
    """
    made = admin_rows.execution(of, state if days >= 0 else "RUNNING", **values)
    if days >= 0:
        at = timezone.now() - timedelta(days=days)
        ended = {"created_at": at, "started_at": at, "finished_at": at}
        WorkflowExecution.objects.filter(pk=made.pk).update(**ended)
    for step in ("begin.main", "charge.main"):
        admin_rows.run(made, step, "SUCCESS", logs=[{"message": "hello"}])
    Checkpoint.objects.create(execution=made, sequence=1, variables={})
    return made


def left() -> set[Any]:
    """Return the ids of the existing executions."""
    return set(WorkflowExecution.objects.values_list("pk", flat=True))


def runs_of(execution: WorkflowExecution) -> int:
    """Return the number of runs that an execution still has."""
    return Run.objects.filter(execution=execution).count()
