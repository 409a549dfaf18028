"""Runs for remote runners: their inputs, secrets, gates and reports.

After a report, the next steps are sent to workers, or wait for a lease.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db.models import Q

from executions import payloads
from executions.database import transaction
from executions.database.clock import database_now
from executions.definition.graph.model import Step
from executions.definition.limits import limits
from executions.definition.templating.secrets import Place
from runners import statements
from runners.conf import config
from runners.errors import LeaseLost
from runners.failures.classification import Failure, classify
from runners.gates import gates, held_permits
from runners.models import Run
from runners.modules import registry
from runners.modules.base import Result, Wait
from runners.pipeline import (
    claim_run,
    end_run,
    execute,
    load_segment,
    record_result,
    result_cache,
)
from runners.pipeline.end_run import Looked
from runners.pipeline.reveal_secrets import (
    Revealed,
    filled,
    scrubber_of,
    secret_places,
    uses_secrets,
)
from runners.ports import trace_remote_run
from runners.process import activity
from runners.secrets.scrubbing import Scrubber
from runners.segment import execution_lock
from runners.segment.context import SegmentContext
from runners.segment.inputs import Prepared, stored_inputs
from runners.segment.state import SegmentState
from runners.segment.step_context import Expense, add_cost
from runners.segment.work import Cost, Done, LiveRun, Unit, Work
from runners.states import RunState


@dataclass(frozen=True, slots=True)
class _Held:
    """The columns of a locked run whose lease was checked."""

    inputs_hash: str
    key: str
    milliseconds: float  # duration since the run began


def reveal(looked: Looked, inputs: Any, places: Sequence[Place]) -> Revealed:
    """Return the inputs with the step's secrets. Raises the errors of `reveal_secrets.filled`."""
    work = looked.work
    return filled(
        looked.state.data,
        work.step,
        inputs,
        places,
        run_id=work.run_id,
        attempt=work.attempt,
    )


def scrubber(looked: Looked) -> Scrubber | None:
    """Return the scrubber of the run's reports; None if the step names no secret or credential.

    Call this function outside a transaction, because reading secrets can call a key service. Raises
    SecretUnavailable if one of the step's credentials was deleted after the lease began.
    """
    if not uses_secrets(looked.work.step):
        return None
    return scrubber_of(looked.state.data, looked.work.step)


@dataclass(frozen=True, slots=True, repr=False)
class Leasable:
    """A run that is about to be leased under `token`, with the data that its gates need.

    `inputs` are rendered, with references to secrets; without secrets, `revealed` is None.
    """

    context: SegmentContext
    run_id: UUID
    token: int
    holder: str
    path: str
    step: Step
    attempt: int
    inputs: Any
    held_seconds: float
    revealed: Revealed | None = None


def question(run: Leasable) -> gates.Asked:
    """Return the run's data for its gates. Validates the inputs if the module has a circuit."""
    prepared = Prepared(run.inputs, "", "", "")
    work = Work(
        run_id=run.run_id,
        execution_id=run.context.execution_id,
        token=run.token,
        holder=run.holder,
        step=run.step,
        path=run.path,
        prepared=prepared,
        attempt=run.attempt,
        held_seconds=run.held_seconds,
    )
    module, given = registry.get(run.step.module), run.revealed
    inputs = None
    if module.has_circuit():
        inputs = module.validated(run.inputs if given is None else given.inputs)
    if given is None:
        return gates.Asked(run.context, work, module, inputs, None)
    return gates.Asked(run.context, work, module, inputs, given.scrub, given.credential)


def turn_away(run: Leasable, answer: Wait | Exception) -> bool:
    """Suspend or fail a run that must not be leased; return False if it ended or was taken over.

    A Wait suspends the run, and an exception fails it, as for a step in a worker.
    """
    if isinstance(answer, Wait):
        return end_run.put_to_sleep(run.context.execution_id, run.run_id, answer, token=run.token)
    failure = execute.failure_of(answer, run.step.timeout_seconds, run.path, run.revealed)
    prepared = Prepared(run.inputs, "", "", "")
    target = execute.failure_target(run.step.module, prepared, run.revealed)
    failure = replace(failure, target=target)
    return end_run.fail(run.context.execution_id, run.run_id, failure, token=run.token)


def costs_of(spent: Iterable[Expense]) -> tuple[Cost, ...]:
    """Return an attempt's reported costs, summed for each pair of model and currency."""
    costs: dict[tuple[str, str], Cost] = {}
    for one in spent:
        add_cost(costs, one)
    return tuple(costs.values())


def record_success(
    looked: Looked, token: int, result: Result, outputs: str, costs: tuple[Cost, ...] = ()
) -> bool:
    """Record a result under the lease; return False if the lease is over.

    `outputs` are the result's outputs as canonical JSON; `costs` are the costs of the step.
    """
    state, step = looked.state, looked.work.step

    def unit(held: _Held) -> Unit:
        state.ended(step, result.outcome, result.outputs)
        prepared = Prepared(None, "null", held.inputs_hash, held.key)
        milliseconds = held.milliseconds
        head = Done(step, state.place, prepared, result, outputs, milliseconds, costs=costs)
        return Unit(head)

    return _record(looked, token, unit, None)


def record_failure(
    looked: Looked, token: int, failure: Failure, costs: tuple[Cost, ...] = ()
) -> bool:
    """Record a failure under the lease; return False if the lease is over."""

    def unit(held: _Held) -> Unit:
        return Unit(None, failure=failure, milliseconds=held.milliseconds, spent=costs)

    return _record(looked, token, unit, failure)


def _record(
    looked: Looked, token: int, make: Callable[[_Held], Unit], failure: Failure | None
) -> bool:
    """Record the unit that `make` returns; notify the gates. Return False if the lease is over."""
    state, work = looked.state, looked.work
    work.token = token
    # For the first lease (token 1) of a segment's first step, no earlier holder can know more than
    # the rows, so the planner need not search for other ready steps.
    state.resumed = token > 1 or work.path != state.segment
    try:
        with transaction.atomic():
            held = _hold(state, work)
            if held is None:
                return False
            unit = make(held)
            record_result.record(state, work, unit)
            if trace_remote_run.provided:
                trace_remote_run(state, work, unit, held.milliseconds)
    except LeaseLost:
        return False
    held_permits.end(work.run_id, token, failure)
    return True


def _hold(state: SegmentState, work: Work) -> _Held | None:
    """Lock the execution, then the run; return the run's columns, or None if the lease is over.

    Requires an open transaction.
    """
    locked = statements.fetch_one("lock", {"execution": state.context.execution_id})
    if locked is None or locked[0] not in ("RUNNING", "PAUSED") or locked[1] != state.context.epoch:
        return None
    execution_lock.note_state(state, locked[0])
    row = statements.fetch_one(
        "begin_recording_remote_run",
        {"execution": work.execution_id, "run": work.run_id, "token": work.token},
    )
    if row is None:
        return None
    work.holder = row[0]
    return _Held(*row[1:])


# Let a worker render the inputs of remote steps before a runner can lease these steps.
#
# The web process, which gives runs to runners, renders nothing: it reads the row and fills in
# secrets. If the inputs cannot be rendered, the run fails as in a worker. If a cached result
# exists, the run ends with it. Neither run is leased.


def prepare_runs(execution_id: UUID, version_id: UUID, segments: Sequence[str]) -> int:
    """Render the inputs of these segments' pending runs; return how many became ready to lease.

    Skips runs that are prepared, taken, not due or not remote, so a second call is safe.
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
    """Prepare one run; return whether it can be leased now."""
    found = load_segment.load(execution_id, version_id, segment, states=(RunState.PENDING,))
    if found is None:
        return False
    state, seen = found
    state.stays, state.hands_over = False, True
    if seen.crashes >= config().poison:
        # The watchdog counts crashes, but the process that it starts to end such a run may itself
        # die.
        return _end(state, seen, (None, None))
    activity.executes(seen.id, seen.token)  # rendering its templates may stall the process
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
            state.data, seen.step, prepared.value, attempt=seen.attempt, changes=prepared.changes
        )
    except Exception as error:
        return _end(state, seen, (prepared, classify(error)))
    if seen.step.cache is not None and _reused(state, seen, prepared):
        return False
    row = statements.fetch_one(
        "store_remote_inputs",
        {
            "execution": state.context.execution_id,
            "run": seen.id,
            "token": seen.token,
            "inputs": stored_inputs(state.data, seen.step, prepared),
            "inputs_hash": prepared.hash,
            "config_hash": seen.step.config_hash,
            "key": prepared.key,
            "secret_places": payloads.dump(places, "places of secrets"),
        },
    )
    return row is not None


def _end(state: SegmentState, seen: LiveRun, inputs: claim_run.Inputs) -> bool:
    """Fail a run that cannot be prepared, as a worker would after claiming it; return False."""
    work = claim_run.claim(state, seen, inputs)
    if work is not None:
        with suppress(LeaseLost):
            record_result.record(state, work, Unit(None, failure=work.failure))
    return False


def _reused(state: SegmentState, seen: LiveRun, prepared: Prepared) -> bool:
    """Record an equal step's stored result for the run; return whether there is such a result."""
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
