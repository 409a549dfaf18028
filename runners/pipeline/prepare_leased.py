"""Render the inputs of remote steps in a worker, before a runner can lease them.

The web process, which hands them out, renders nothing: it reads the row and fills in secrets. A run
whose inputs cannot be made fails as it would in a worker. One whose result the cache holds is done.
Neither is ever leased.
"""

from collections.abc import Sequence
from contextlib import suppress
from uuid import UUID

from django.db.models import Q

from executions import payloads
from executions.database.clock import database_now
from executions.definition.limits import limits
from runners import statements
from runners.conf import config
from runners.errors import LeaseLost
from runners.failures.classification import classify
from runners.models import Run
from runners.pipeline import claim_run, record_result, result_cache
from runners.pipeline.reveal_secrets import secret_places
from runners.process import activity
from runners.segment.inputs import Prepared
from runners.segment.live_run import LiveRun
from runners.segment.state import SegmentState
from runners.segment.work import Unit
from runners.states import RunState


def prepare_runs(execution_id: UUID, version_id: UUID, segments: Sequence[str]) -> int:
    """Render the inputs of these segments' pending runs; returns how many can be leased now.

    Does nothing for runs that are prepared, taken, not due or not remote, so asking twice is safe.
    """
    due = Q(retry_after=None) | Q(retry_after__lte=database_now())
    pending = Run.objects.filter(
        due,
        execution_id=execution_id,
        segment__in=list(segments),
        state=RunState.PENDING,
        superseded=False,
        queue__in=sorted(limits().remote_queues),
        secret_places__isnull=True,
    )
    wanted = pending.order_by("id").values_list("segment", flat=True)
    return sum(_prepare(execution_id, version_id, segment) for segment in list(wanted))


def _prepare(execution_id: UUID, version_id: UUID, segment: str) -> bool:
    """Prepare one run; whether it can be leased now."""
    found = claim_run.load(execution_id, version_id, segment, states=(RunState.PENDING,))
    if found is None:
        return False
    state, seen = found
    state.stays, state.hands_over = False, True
    if seen.crashes >= config().poison:
        return _end(state, seen, (None, None))
    activity.executes(seen.id, seen.token)  # its templates may stall the process
    try:
        return _rendered(state, seen)
    finally:
        activity.rests()


def _rendered(state: SegmentState, seen: LiveRun) -> bool:
    prepared, failure = claim_run.attempt_prepare(state, seen.step, seen.attempt, seen.overrides)
    if prepared is None:
        return _end(state, seen, (None, failure))
    try:
        places = secret_places(
            state.data, seen.step, prepared.value, attempt=seen.attempt, overrides=seen.overrides
        )
    except Exception as error:
        return _end(state, seen, (prepared, classify(error)))
    if seen.step.cache is not None and _reused(state, seen, prepared):
        return False
    row = statements.fetch_one(
        "prepare",
        {
            "run": seen.id,
            "token": seen.token,
            "inputs": prepared.text,
            "inputs_hash": prepared.hash,
            "config_hash": seen.step.config_hash,
            "key": prepared.key,
            "secret_places": payloads.dump(places, "places of secrets"),
        },
    )
    return row is not None


def _end(state: SegmentState, seen: LiveRun, inputs: claim_run.Inputs) -> bool:
    """Fail a run that cannot be prepared, as a worker that claims it does."""
    work = claim_run.claim(state, seen, inputs)
    if work is not None:
        with suppress(LeaseLost):
            record_result.record(state, work, Unit(None, failure=work.failure))
    return False


def _reused(state: SegmentState, seen: LiveRun, prepared: Prepared) -> bool:
    """Whether an equal step's result is there; then the run is done with it."""
    done = result_cache.lookup(state, seen.step, prepared)
    if done is None:
        return False
    work = claim_run.claim(state, seen, (prepared, None))
    if work is None:
        return True
    unit = Unit(None, failure=work.failure)
    if work.failure is None:
        state.ended(work.step, done.result.outcome, done.result.outputs)
        unit = Unit(done)
    with suppress(LeaseLost):
        record_result.record(state, work, unit)
    return True
