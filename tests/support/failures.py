"""Failures as the engine reports them, through the real intake: a dead run, then its dead
letter.
"""

from dataclasses import replace
from typing import Any
from uuid import uuid4

from django.db import transaction

from dlq.intake.receive import take_in
from dlq.models import DeadLetterEntry, FailureGroup
from executions.models import Workflow, WorkflowExecution, WorkflowVersion
from runners.failures.classification import Failure, classify
from runners.models import Run
from runners.modules.base import StepError
from tests.support import admin_rows


def version(of: Workflow, number: int) -> WorkflowVersion:
    """Return that version of the workflow; create it if necessary."""
    first = WorkflowVersion.objects.filter(workflow=of).earliest("number")
    values = {"source": first.source, "definition": first.definition, "checksum": f"{number:064}"}
    return WorkflowVersion.objects.get_or_create(workflow=of, number=number, defaults=values)[0]


def failing_step(of: Workflow, step: str = "charge.main", number: int = 1, **more: Any) -> Run:
    """Create a dead run of a FAILED execution; the failure is not reported yet."""
    execution = admin_rows.execution(of, "FAILED")
    WorkflowExecution.objects.filter(pk=execution.pk).update(version=version(of, number))
    return admin_rows.run(execution, step, "DLQ", task_id=uuid4(), **more)


def failure(message: str = "it broke", *, target: str = "", **more: Any) -> Failure:
    """Return the record of a module that raises; `more` is passed to its StepError."""
    return replace(classify(StepError(message, **more)), target=target)


def fail(
    of: Workflow,
    message: str = "it broke",
    *,
    step: str = "charge.main",
    number: int = 1,
    runner: str = "io@box-1",
    inputs: Any = None,
    **more: Any,
) -> DeadLetterEntry:
    """Let a step fail permanently; return its dead letter."""
    run = failing_step(of, step, number, leased_by=runner, inputs=inputs)
    with transaction.atomic():
        return take_in(
            run_id=run.pk,
            failure=failure(message, **more),
            exhausted=False,
            manual=None,
        )


def group(letter: DeadLetterEntry) -> FailureGroup:
    """Return the current group of a dead letter."""
    letter.refresh_from_db()
    return FailureGroup.objects.get(pk=letter.group_id)
