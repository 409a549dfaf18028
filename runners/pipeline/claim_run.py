"""Claim a segment's live run; the token in the row is the fence."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from executions.definition.graph.model import Step
from executions.definition.templates import TemplateError
from executions.errors import PayloadError
from executions.payload_store import PayloadStoreUnavailable
from executions.sealing import SealBroken
from runners import statements
from runners.conf import config
from runners.dispatch.messages import resend
from runners.failures.classification import Failure, classify, template_failure
from runners.observability import metrics
from runners.observability.tracing import tell_taken_over
from runners.process import activity
from runners.process.cause_of_death import Death, judge
from runners.process.identity import gone, process_identity
from runners.segment.inputs import Prepared, prepare, put_away, recorded, stored_inputs
from runners.segment.packs import ExecutionPack
from runners.segment.run_rows import release
from runners.segment.state import SegmentState
from runners.segment.stored_results import LoadsOutside
from runners.segment.work import LiveRun, Work
from runners.states import HOLDS, ErrorType, RunState

Inputs = tuple[Prepared | None, Failure | None]  # a step's inputs, or why they cannot be rendered


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """The data of a claim: the rendered inputs, and the decision about the lost holder's crash."""

    state: SegmentState
    seen: LiveRun
    prepared: Prepared | None
    failure: Failure | None
    death: Death
    params: dict[str, Any]
    made_at: float = field(default_factory=time.monotonic)

    def claimed(self, row: tuple[Any, ...] | None) -> Work | None:
        """Return the run that this process now holds; None if the claim returned no row."""
        if row is None:
            return None
        state, seen = self.state, self.seen
        activity.executes(seen.id, row[0])
        metrics.claimed(state.context.queue, row[1], state.received_at)
        state.received_at = 0.0
        if seen.state == RunState.RUNNING:
            metrics.RECOVERIES.labels("claim").inc()
            path = state.path(seen.step)
            tell_taken_over(seen.id, path, seen.leased_by, crashed=bool(self.death.crashed))
        state.carried = 1
        state.seconds = seen.step.timeout_seconds
        return Work(
            run_id=seen.id,
            execution_id=state.context.execution_id,
            token=row[0],
            holder=self.params["holder"],
            step=seen.step,
            prepared=self.prepared,
            failure=self.failure,
            attempt=seen.attempt,
            budget=seen.budget,
            overrides=seen.overrides,
            last_details=seen.details,
            path=state.path(seen.step),
            wake=None if seen.waits_for in HOLDS else seen.wake,
            held_seconds=held_seconds(seen.waits_for, seen.wake),
            claimed_at=self.made_at,
        )


def claim(state: SegmentState, seen: LiveRun, inputs: Inputs | None = None) -> Work | None:
    """Claim the run; return None if it is leased or not due, or if its execution cannot run now.

    The inputs and the idempotency key are stored with the claim, before the step can have any
    effect. A run whose inputs cannot be rendered is claimed too, and fails. `inputs` are the step's
    inputs if they are already rendered.
    """
    request = request_claim(state, seen, inputs)
    if request is None:
        return None
    return request.claimed(statements.fetch_one("claim", request.params))


def request_claim(
    state: SegmentState, seen: LiveRun, inputs: Inputs | None = None
) -> ClaimRequest | None:
    """Return the request to claim the run; None if another worker holds the run."""
    limits = config()
    holder_gone = seen.state == RunState.RUNNING and gone(seen.leased_by)
    if seen.state == RunState.RUNNING and not (seen.expired or holder_gone):
        return None
    death = judge(seen.leased_by) if seen.state == RunState.RUNNING else Death()
    crashes = seen.crashes + death.crashed
    prepared: Prepared | None = None
    failure: Failure | None
    if crashes >= limits.poison:
        failure = poisoned(state.path(seen.step), crashes, death.cause)
    else:
        activity.executes(seen.id, seen.token)  # rendering its templates may stall the process too
        prepared, failure = inputs or _inputs(state, seen)
    params = {
        "execution": state.context.execution_id,
        "epoch": state.context.epoch,
        "run": seen.id,
        "token": seen.token,
        "holder": process_identity(),
        "holder_gone": holder_gone,
        "lease": limits.lease,
        "timeout": seen.step.timeout_seconds,
        "lost": death.lost,
        "crashed": death.crashed,
        "cause": death.cause,
        "suspect": death.suspect,
        "inputs": stored_inputs(state.data, seen.step, prepared),
        "inputs_hash": prepared.hash if prepared else "",
        "config_hash": seen.step.config_hash,
        "key": prepared.key if prepared else "",
    }
    return ClaimRequest(state, seen, prepared, failure, death, params)


def request_next(pack: ExecutionPack[SegmentState] | None) -> ClaimRequest | None:
    """Return the request to claim the run of the pack's next execution; None if there is none.

    The request is sent with the current run's record. Also returns None if the pack's time is over,
    if the worker is draining, or if the run is a suspect or was claimed before. Such a run is put
    back and claimed separately.
    """
    if pack is None or pack.late() or activity.draining():
        return None
    taken = pack.following()
    if taken is None:
        return None
    state, seen = taken
    if seen.state == RunState.PENDING and seen.token == 0 and not seen.suspect:
        return request_claim(state, seen)
    pack.put_back(state.context.execution_id, state, seen)
    return None


def claim_following(state: SegmentState) -> Work | None:
    """Claim the next loaded sibling that can still be claimed; return None if there is none."""
    while state.pack is not None and (seen := state.pack.following()) is not None:
        state.turn_to(seen.step)
        work = claim(state, seen)
        if work is not None:
            return work
    return None


def _inputs(state: SegmentState, seen: LiveRun) -> tuple[Prepared | None, Failure | None]:
    """Return the inputs and None, or None and a failure; a woken run has recorded inputs."""
    if seen.wake is not None and state.unreadable is None:
        return _attempt(
            state,
            seen.step,
            lambda: recorded(state.data, seen.step, seen.inputs, seen.inputs_hash, seen.overrides),
        )
    return attempt_prepare(state, seen.step, seen.attempt, seen.overrides)


def held_seconds(waits_for: str, wake: Any) -> float:
    """Return how many seconds a gate held a run before its module ran; 0 if no gate held it."""
    return float((wake or {}).get("waitedSeconds", 0)) if waits_for in HOLDS else 0.0


def attempt_prepare(
    state: SegmentState, step: Step, attempt: int, overrides: Any = None
) -> tuple[Prepared | None, Failure | None]:
    """Return the step's inputs and None, or None and the failure to render or store them.

    In a transaction, raises LoadsOutside if a stored value must be loaded, or if the inputs are too
    large for the row.
    """

    def prepared() -> Prepared:
        if state.unreadable is not None:
            raise state.unreadable
        return put_away(state.data, step, prepare(state.data, step, attempt, overrides))

    return _attempt(state, step, prepared)


def _attempt(
    state: SegmentState, step: Step, made: Callable[[], Prepared]
) -> tuple[Prepared | None, Failure | None]:
    try:
        return made(), None
    except LoadsOutside:
        raise
    except TemplateError as error:
        return None, template_failure(error, state.path(step))
    except PayloadError as error:
        return None, permanent(error.message, "PayloadError")
    except (RecursionError, SealBroken, PayloadStoreUnavailable) as error:
        return None, classify(error)


def permanent(message: str, exception: str) -> Failure:
    """Return a permanent failure with this message."""
    return Failure(ErrorType.PERMANENT, message, exception)


def poisoned(path: str, crashes: int, cause: str) -> Failure:
    """Return the failure of a step that repeatedly crashed its process."""
    return permanent(
        f"Step {path} ended its worker process {crashes} times, so it is not retried. The "
        f"last time, {cause or 'the process ended'}. Find the cause, such as memory, a crash "
        "in a library or os._exit.",
        "WorkerLost",
    )


def give_back(work: Work) -> None:
    """Release the run that this process holds, and send it again without counting an attempt."""
    resend(release(work.execution_id, work.run_id, work.token))
