"""The labels of executions, one row per label; lists use these rows to find executions."""

from django.db import models

from executions.models.execution import WorkflowExecution
from executions.models.workflow import Workflow
from executions.models.workspace import Workspace
from executions.states import ExecutionState


class ExecutionLabel(models.Model):
    """One label of one execution, inserted together with the execution.

    The execution's `labels` have the same values. `state` is a copy of the execution's state, which
    a database trigger updates (migrations/0001_initial.py). So one index finds the newest
    executions of a workflow with this value in this state.
    """

    pk = models.CompositePrimaryKey("execution_id", "name")
    execution = models.ForeignKey(
        WorkflowExecution, on_delete=models.CASCADE, related_name="label_rows", db_index=False
    )
    name = models.CharField(max_length=40)
    value = models.CharField(max_length=200)
    workspace = models.ForeignKey(
        Workspace,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    workflow = models.ForeignKey(
        Workflow,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    state = models.CharField(max_length=10, choices=ExecutionState.choices)

    class Meta:
        indexes = [
            models.Index(
                fields=["name", "value", "workflow", "state", "execution"], name="label_newest"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}:{self.value}"
