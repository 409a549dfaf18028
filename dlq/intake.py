"""A dead run becomes a dead letter, once, in the transaction that ends the run."""

from typing import Any
from uuid import UUID

from django.dispatch import receiver

from dlq.fingerprint import fingerprint
from dlq.models import DeadLetterEntry, FailureType
from executions.graph.places import module_in
from executions.models import WorkflowVersion
from runners.events import run_dead_lettered
from runners.models import Run
from runners.outcomes import Failure
from runners.states import ErrorType


@receiver(run_dead_lettered)
def take_in(
    sender: Any, run_id: UUID, failure: Failure, exhausted: bool, manual: str | None, **_: Any
) -> DeadLetterEntry:
    """Write the dead letter of a run: what failed, with which inputs and config."""
    run = Run.objects.select_related("execution").defer("outputs", "logs").get(pk=run_id)
    execution = run.execution
    return DeadLetterEntry.objects.create(
        workspace_id=execution.workspace_id,
        workflow_id=execution.workflow_id,
        execution_id=execution.pk,
        run=run,
        task_id=run.task_id,
        step_path=run.step_path,
        module=run.module,
        failure_type=_failure_type(failure, exhausted=exhausted, manual=manual),
        failure_reason=manual if manual is not None else failure.message,
        error_type=failure.error_type.value,
        fingerprint=fingerprint(
            execution.workflow_id, run.step_path, failure.exception, failure.message
        ),
        attempts=run.attempt - run.budget_start + 1,
        original_inputs=run.inputs,
        original_config=_config(execution.version_id, run.step_path),
    )


def _failure_type(failure: Failure, *, exhausted: bool, manual: str | None) -> FailureType:
    if manual is not None:
        return FailureType.MANUAL
    if failure.error_type is ErrorType.CIRCUIT_OPEN:
        return FailureType.CIRCUIT_BREAKER
    return FailureType.MAX_RETRIES if exhausted else FailureType.PERMANENT_ERROR


def _config(version_id: UUID, step_path: str) -> Any:
    """The step's `with` as it stands in the version."""
    definition = WorkflowVersion.objects.values_list("definition", flat=True).get(pk=version_id)
    module = module_in(definition, step_path)
    return None if module is None else module.get("with", {})
