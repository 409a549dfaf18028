"""Write the dead letter of a run that failed permanently, in the transaction that ends the run.

A test run creates no dead letter, because its author changes the draft and tests again.
"""

import json
import logging
from functools import partial
from typing import Any
from uuid import UUID

from dlq.groups.facets import facets_of
from dlq.groups.find_group import Failing, note_entry, placed
from dlq.groups.fingerprint import fingerprint, normalise, place_of
from dlq.models import DeadLetterEntry, FailureType, Resolution
from executions.database import transaction
from executions.definition.graph.places import module_in
from executions.observability import log_context
from executions.observability.metric_values import Counter
from executions.sealing import SealBroken
from executions.sealing.columns import seals
from executions.states import VersionKind
from runners.failures.classification import Failure
from runners.models import Run
from runners.ports import file_dead_letter
from runners.states import ErrorType

# Metrics that each process counts itself.


DEAD_LETTERS = Counter(
    "valkyr_dead_letters", "Dead letters that were added, by type of failure.", ["failure"]
)


def count_dead_letter(failure: str) -> None:
    """Count a new dead letter when the transaction commits."""
    transaction.on_commit(DEAD_LETTERS.labels(failure).inc, robust=True)


log = logging.getLogger(__name__)


def log_dead_letter(entry: DeadLetterEntry) -> None:
    """Log the new dead letter of a step; the step's error has already been logged."""
    with log_context.bound(execution_id=entry.execution_id, run_id=entry.run_id):
        log.error(
            "dead letter %s: step %s (%s) of execution %s failed permanently, %s after attempt %s",
            entry.pk,
            entry.step_path,
            entry.module,
            entry.execution_id,
            entry.failure_type,
            entry.attempts,
        )


# Maximum characters of inputs that can be searched by path. Indexing larger inputs costs the engine
# more than searches gain.
MOST_INDEXED = 16_384


@file_dead_letter.provide
def take_in(
    run_id: UUID, failure: Failure, exhausted: bool, manual: str | None
) -> DeadLetterEntry | None:
    """Write and return the dead letter of a run, with the failure, the inputs and the config.

    Return None for a test run.
    """
    run = (
        Run.objects.select_related("execution__version")
        .defer("outputs", "logs", "execution__version__source")
        .get(pk=run_id)
    )
    if run.execution.version.kind == VersionKind.TEST:
        return None
    entry = _entry(run, failure, exhausted=exhausted, manual=manual)
    entry.inputs_indexed = entry.inputs_indexed and not seals(entry)
    home = placed(
        Failing(
            workspace_id=entry.workspace_id,
            workflow_id=entry.workflow_id,
            fingerprint=entry.fingerprint,
            place=place_of(run.step_path),
            module=run.module,
            exception=failure.exception,
            message=normalise(failure.message),
            sample=failure.message,
            version_number=entry.version_number,
            facets=facets_of(entry),
        )
    )
    entry.group_id, entry.fingerprint = home.group_id, home.fingerprint
    entry.save(force_insert=True)
    note_entry(entry.pk)
    transaction.on_commit(partial(log_dead_letter, entry), robust=True)
    count_dead_letter(entry.failure_type)
    return entry


def _entry(run: Run, failure: Failure, *, exhausted: bool, manual: str | None) -> DeadLetterEntry:
    """Return the dead letter of a run, not yet saved and without a group."""
    execution, before, inputs = run.execution, _before(run), _inputs(run)
    return DeadLetterEntry(
        workspace_id=execution.workspace_id,
        workflow_id=execution.workflow_id,
        execution_id=execution.pk,
        follows=before,
        redrives=before.redrives + 1 if before else 0,
        version_number=execution.version.number,
        run=run,
        task_id=run.task_id,
        step_path=run.step_path,
        module=run.module,
        failure_type=_failure_type(failure, exhausted=exhausted, manual=manual),
        failure_reason=manual if manual is not None else failure.message,
        error_type=failure.error_type.value,
        exception=failure.exception[:200],
        http_status=failure.http_status,
        target=failure.target[:300],
        worker=run.runner[:200],
        fingerprint=fingerprint(
            execution.workflow_id,
            run.step_path,
            failure.exception,
            failure.message,
            own=failure.fingerprint,
        ),
        attempts=run.attempt - run.budget_start + 1,
        labels=execution.labels,
        original_inputs=inputs,
        original_config=_config(execution.version.definition, run.step_path),
        inputs_indexed=len(json.dumps(inputs)) <= MOST_INDEXED,
    )


def _inputs(run: Run) -> Any:
    """Return the run's inputs; None if they cannot be unsealed, so that the run can still end."""
    try:
        return run.inputs
    except SealBroken:
        return None


def _before(run: Run) -> DeadLetterEntry | None:
    """Return the step's newest requeued dead letter; None if the run does not follow a requeue."""
    if run.budget_start == 1:
        return None
    return (
        DeadLetterEntry.objects.filter(
            execution_id=run.execution_id,
            step_path=run.step_path,
            resolution=Resolution.REQUEUED,
        )
        .only("id", "redrives")
        .order_by("-pk")
        .first()
    )


def _failure_type(failure: Failure, *, exhausted: bool, manual: str | None) -> FailureType:
    if manual is not None:
        return FailureType.MANUAL
    if failure.error_type is ErrorType.CIRCUIT_OPEN:
        return FailureType.CIRCUIT_BREAKER
    return FailureType.MAX_RETRIES if exhausted else FailureType.PERMANENT_ERROR


def _config(definition: Any, step_path: str) -> Any:
    """Return the step's `with` as the version defines it; None if the version lacks the step."""
    module = module_in(definition, step_path)
    return None if module is None else module.get("with", {})
