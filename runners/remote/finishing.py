"""What a remote runner reports of a run: its outputs, or why it failed; fenced by the lease.

A report that comes again, because its answer was lost, finds itself recorded and is answered alike.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction

from executions import payloads
from executions.definition.graph.model import Step
from runners.conf import default_currency
from runners.errors import LeaseLost
from runners.failures.classification import (
    MAX_FINGERPRINT,
    MAX_MESSAGE_CHARACTERS,
    Failure,
    classify,
)
from runners.failures.storable import storable_text
from runners.models import Run
from runners.modules.base import Result, StepError
from runners.pipeline import end_run, record_result
from runners.pipeline.end_run import Looked
from runners.remote import spans
from runners.remote.errors import LeaseOver, UndeclaredOutcome
from runners.remote.recording import Held, hold
from runners.remote.scrubbing import scrubber
from runners.remote.tokens import number_of
from runners.segment.inputs import Prepared
from runners.segment.work import Cost, Done, Unit
from runners.states import ErrorType, RunState

EXCEPTION = "RemoteError"
FAILED = frozenset({RunState.FAILED, RunState.DLQ})

Make = Callable[[Looked, Held], Unit]


@dataclass(frozen=True, slots=True)
class Reported:
    """A step that a remote runner did."""

    outputs: Any
    outcome: str = "success"
    tokens: int = 0


def complete(run_id: UUID, token: str, reported: Reported) -> None:
    """Record a result and what follows from it.

    Raises LeaseOver; PayloadError for outputs that cannot be stored and UndeclaredOutcome, both of
    which leave the run in the runner's hands.
    """
    looked = _look(run_id, token)
    work, what = looked.work, f"output of step {looked.work.path}"
    _check_outcome(work.step, work.path, reported.outcome)
    payloads.dump(reported.outputs, what)
    try:
        scrub = scrubber(looked)
    except StepError as error:
        _report_failure(looked, token, classify(error))
        return
    outputs = reported.outputs if scrub is None else scrub.value(reported.outputs, what)
    text = payloads.dump(outputs, what)

    def unit(looked: Looked, held: Held) -> Unit:
        result = Result(outputs, reported.outcome)
        looked.state.ended(work.step, result.outcome, result.outputs)
        prepared = Prepared(None, "null", held.inputs_hash, held.key)
        place = looked.state.place
        head = Done(work.step, place, prepared, result, text, held.milliseconds)
        if reported.tokens:
            tokens = reported.tokens
            head.costs = (Cost("", default_currency(), 0, 0, tokens, Decimal(0)),)
        return Unit(head)

    def same(found: Run) -> bool:
        result = (found.outputs, found.outcome)
        return found.state == RunState.SUCCESS and result == (outputs, reported.outcome)

    _report(looked, token, unit, same)


def fail(
    run_id: UUID,
    token: str,
    message: str,
    error_type: ErrorType,
    retry_after: float | None,
    fingerprint: str = "",
) -> None:
    """Record a failure: it is retried, goes along an error edge, or is dead. Raises LeaseOver.

    `retry_after` is in seconds; `fingerprint` is what the runner calls this kind of failure.
    """
    looked = _look(run_id, token)
    try:
        scrub = scrubber(looked)
    except StepError as error:
        _report_failure(looked, token, classify(error))
        return
    if scrub is not None:
        message, fingerprint = scrub.message(message), scrub.message(fingerprint)
    clean = storable_text(message, MAX_MESSAGE_CHARACTERS)
    named = storable_text(fingerprint, MAX_FINGERPRINT)
    failure = Failure(error_type, clean, EXCEPTION, retry_after, None, "", fingerprint=named)
    _report_failure(looked, token, failure)


def _report_failure(looked: Looked, token: str, failure: Failure) -> None:
    def unit(looked: Looked, held: Held) -> Unit:
        return Unit(None, failure=failure, milliseconds=held.milliseconds)

    def same(found: Run) -> bool:
        result = (found.error, found.error_type)
        return found.state in FAILED and result == (failure.message, failure.error_type)

    _report(looked, token, unit, same)


def _look(run_id: UUID, token: str) -> Looked:
    """The run, for who leased it once: others learn nothing of its step. Raises LeaseOver."""
    leased = number_of(run_id, token) is not None
    looked = end_run.look(run_id) if leased else None
    if looked is None:  # nobody leased it so, or before its execution was rolled back
        raise LeaseOver(Run.objects.values_list("state", flat=True).get(pk=run_id))
    return looked


def _report(looked: Looked, token: str, make: Make, same: Callable[[Run], bool]) -> None:
    run_id = looked.work.run_id
    number = number_of(run_id, token)
    try:
        with transaction.atomic():
            if number is not None and _recorded(looked, number, make):
                return
    except LeaseLost:
        pass
    found = Run.objects.get(pk=run_id)
    if found.lease_token != number or not same(found):
        raise LeaseOver(found.state)


def _recorded(looked: Looked, number: int, make: Make) -> bool:
    state, work = looked.state, looked.work
    work.token = number
    # Who leased it first knows of no more than the rows, so there is nothing left to look for.
    state.resumed = number > 1 or work.path != state.segment
    held = hold(state, work)
    if held is None:
        return False
    unit = make(looked, held)
    record_result.record(state, work, unit)
    spans.tell(state, work, unit, held.milliseconds)
    return True


def _check_outcome(step: Step, path: str, outcome: str) -> None:
    if outcome != "success" and outcome not in step.outcomes:
        raise UndeclaredOutcome(
            f"Step {path} cannot end with {outcome!r}; its outcomes are: "
            f"{', '.join(step.outcomes) or 'success'}. Declare it in the workflow, or fail the run."
        )
