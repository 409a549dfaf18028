"""Executions that ended a number of days ago, with their rows."""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from executions.models import Workflow, WorkflowExecution
from runners.models import Run
from tests.support import admin_rows
from valkyr_plugins.timetravel.models import Checkpoint


def aged(of: Workflow, days: float, state: str = "SUCCESS", **values: Any) -> WorkflowExecution:
    """An execution that ended so many days ago, with two runs and a checkpoint;

    `days` of -1: running.
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
    """The existing executions."""
    return set(WorkflowExecution.objects.values_list("pk", flat=True))


def runs_of(execution: WorkflowExecution) -> int:
    """How many runs of one are left."""
    return Run.objects.filter(execution=execution).count()
