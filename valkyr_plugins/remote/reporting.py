"""Record a remote runner's heartbeats, results and failures, which are fenced by the lease.

A report that is repeated because its response was lost gets the same response again.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from executions.public.errors import ValkyrError, WithProblems, WrongState
from executions.public.graphs import Step
from executions.public.sealing import stored
from executions.public.values import payloads
from runners.public import leased_runs
from runners.public.leased_runs import (
    MAX_DETAILS_BYTES,
    MAX_FINGERPRINT,
    MAX_MESSAGE_CHARACTERS,
    Expense,
    Failure,
    Looked,
    classify,
    config,
    costs_of,
    look,
    scrubber,
    storable_text,
)
from runners.public.models import Run, RunState
from runners.public.modules import ErrorType, Result, StepError
from valkyr_plugins.remote import statements
from valkyr_plugins.remote.leasing import number_of

# Other errors that a remote runner may get.


class LeaseOver(WrongState):
    """This lease is over, so nothing was recorded. Stop the work and lease again."""

    code = "lease_lost"

    def __init__(self, state: str) -> None:
        """Set the message; `state` is the run's current state."""
        super().__init__((self.__doc__ or "").strip(), state)


class NotRemote(WithProblems):
    """Some of the queues are not for remote runners."""

    code = "not_remote"

    def __init__(self, problems: list[Any]) -> None:
        """Set the message, with one problem per queue."""
        super().__init__((self.__doc__ or "").strip(), problems)


class UndeclaredOutcome(ValkyrError):
    """The step does not declare this outcome."""

    code = "undeclared_outcome"


EXCEPTION = "RemoteError"
FAILED = frozenset({RunState.FAILED, RunState.DLQ})


@dataclass(frozen=True, slots=True)
class Reported:
    """A step's result as a remote runner reported it: the outputs, the outcome and the costs."""

    outputs: Any
    outcome: str = "success"
    spent: tuple[Expense, ...] = ()


def complete(run: Run, token: str, reported: Reported) -> None:
    """Record a result and continue the execution; fail the run if its secrets cannot be read.

    Raises LeaseOver. Raises PayloadError for outputs that cannot be stored, and UndeclaredOutcome;
    after either, the runner still holds the run.
    """
    looked = _look(run, token)
    work, what = looked.work, f"output of step {looked.work.path}"
    _check_outcome(work.step, work.path, reported.outcome)
    payloads.dump(reported.outputs, what)
    try:
        scrub = leased_runs.scrubber(looked)
    except StepError as error:
        _report_failure(looked, token, classify(error), reported.spent)
        return
    outputs = reported.outputs if scrub is None else scrub.value(reported.outputs, what)
    text = payloads.dump(outputs, what)

    def same(found: Run) -> bool:
        result = (found.outputs, found.outcome)
        return found.state == RunState.SUCCESS and result == (outputs, reported.outcome)

    result, costs = Result(outputs, reported.outcome), costs_of(reported.spent)
    _report(
        looked,
        token,
        lambda number: leased_runs.record_success(looked, number, result, text, costs),
        same,
    )


def fail(
    run: Run,
    token: str,
    message: str,
    error_type: ErrorType,
    retry_after: float | None,
    fingerprint: str = "",
    spent: tuple[Expense, ...] = (),
) -> None:
    """Record a failure: the run is retried, follows an error edge, or becomes a dead letter.

    Raises LeaseOver. `retry_after` is in seconds; `fingerprint` is the runner's name for this kind
    of failure; `spent` lists the attempt's costs.
    """
    looked = _look(run, token)
    try:
        scrub = leased_runs.scrubber(looked)
    except StepError as error:
        _report_failure(looked, token, classify(error), spent)
        return
    if scrub is not None:
        message, fingerprint = scrub.message(message), scrub.message(fingerprint)
    clean = storable_text(message, MAX_MESSAGE_CHARACTERS)
    named = storable_text(fingerprint, MAX_FINGERPRINT)
    failure = Failure(error_type, clean, EXCEPTION, retry_after, None, "", fingerprint=named)
    _report_failure(looked, token, failure, spent)


def _report_failure(
    looked: Looked, token: str, failure: Failure, spent: tuple[Expense, ...]
) -> None:
    costs = costs_of(spent)

    def same(found: Run) -> bool:
        result = (found.error, found.error_type)
        return found.state in FAILED and result == (failure.message, failure.error_type)

    _report(
        looked,
        token,
        lambda number: leased_runs.record_failure(looked, number, failure, costs),
        same,
    )


def _look(run: Run, token: str) -> Looked:
    """Load the run. Raises LeaseOver if the token is not for this run, or after a roll-back."""
    leased = number_of(run.pk, token) is not None
    looked = leased_runs.look(run.execution_id, run.pk) if leased else None
    if looked is None:  # not leased with this token, or leased before a roll-back
        raise LeaseOver(Run.objects.values_list("state", flat=True).get(pk=run.pk))
    return looked


def _report(
    looked: Looked, token: str, record: Callable[[int], bool], same: Callable[[Run], bool]
) -> None:
    """Record a report with `record`. Raises LeaseOver if the lease is over.

    A repeated report is accepted if `same` says that the run already has this result.
    """
    run_id = looked.work.run_id
    number = number_of(run_id, token)
    if number is not None and record(number):
        return
    found = Run.objects.get(pk=run_id)
    if found.lease_token != number or not same(found):
        raise LeaseOver(found.state)


def _check_outcome(step: Step, path: str, outcome: str) -> None:
    if outcome != "success" and outcome not in step.outcomes:
        raise UndeclaredOutcome(
            f"Step {path} cannot end with {outcome!r}; its outcomes are: "
            f"{', '.join(step.outcomes) or 'success'}. Declare this outcome in the workflow, or "
            "report a failure."
        )


# Receive the heartbeats of a remote runner, and answer whether the run is still wanted.


WHAT = "details of the heartbeat"


@dataclass(frozen=True, slots=True)
class Beat:
    """The new end of the lease, and whether the run is wanted; an unwanted run has no lease."""

    lease_until: datetime | None
    wanted: bool


def beat(run: Run, token: str, details: Any = None) -> Beat:
    """Renew a lease; the first heartbeat begins the run.

    `details` are passed to the next attempt. Raises LeaseOver, and PayloadError for details that
    cannot be stored.
    """
    text = None if details is None else _clean(run, details)
    number = number_of(run.pk, token)
    if number is None:
        raise LeaseOver(run.state)
    limits = config()
    row = statements.fetch_one(
        "heartbeat",
        {
            "execution": run.execution_id,
            "run": run.pk,
            "token": number,
            "details": text,
            "lease": limits.lease,
            "grace": limits.grace,
        },
    )
    if row is not None:
        return Beat(row[0], wanted=True)
    run.refresh_from_db(fields=["state", "lease_token"])
    # The token is incremented when an execution ends or is rolled back.
    if run.state == RunState.CANCELLED and run.lease_token == number + 1:
        return Beat(None, wanted=False)
    raise LeaseOver(run.state)


def _clean(run: Run, details: Any) -> str | None:
    """Return the details to store, without the secrets that the step received.

    Return None if one of these secrets was deleted in the meantime, because it can no longer be
    removed from the details.
    """
    payloads.dump(details, WHAT, MAX_DETAILS_BYTES)
    looked = look(run.execution_id, run.pk)
    try:
        scrub = None if looked is None else scrubber(looked)
    except StepError:
        return None
    kept = details if scrub is None else scrub.value(details, WHAT)
    text = payloads.dump(kept, WHAT, MAX_DETAILS_BYTES)
    kept = stored(run, heartbeat_details=json.loads(text))["heartbeat_details"]
    return json.dumps(kept, ensure_ascii=False)
