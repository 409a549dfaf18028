"""Record a unit under the lease; then claim or send the next steps, or end the execution.

Most steps need one statement and no lock. The execution's lock is needed, for example, if a join
may be ready, if variables are written, or if no step follows.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Any

from executions import payloads
from executions.admission import ended
from executions.database import connection, transaction
from executions.database.ids import uuid7
from executions.definition.graph.plan import task_outcomes
from executions.sealing.sealer import opened_variables
from executions.states import ExecutionState
from runners import statements
from runners.conf import config
from runners.containers import child_executions, iterations
from runners.errors import LeaseLost
from runners.pipeline import checkpoints, claim_run, suspend, write_result
from runners.pipeline.claim_run import Inputs, attempt_prepare
from runners.pipeline.decide import RETRIED, Ending, decide
from runners.pipeline.next_steps import SegmentLimits, choose
from runners.pipeline.write_result import Also, NextSteps
from runners.planning import finish, plan_from_rows
from runners.ports import file_dead_letter, record_costs
from runners.segment import execution_lock, template_data
from runners.segment.state import Frontier, SegmentState
from runners.segment.stored_results import LoadsOutside
from runners.segment.template_data import failed
from runners.segment.work import LiveRun, Unit, Work
from runners.states import RunState, WaitKind


def record(state: SegmentState, work: Work, unit: Unit) -> Work | None:
    """Record a unit; return this worker's next work, or None if there is none.

    If another worker holds the run, raises LeaseLost and records nothing. The cost of an attempt is
    written last, because all steps of a workspace share the counters of the budgets.
    """
    if not unit.costs or not record_costs.provided:
        return _record(state, work, unit)
    write_result.renew_connection()
    with transaction.atomic():
        following = _record(state, work, unit)
        record_costs(state.context, work, unit)
    return following


def _record(state: SegmentState, work: Work, unit: Unit) -> Work | None:
    if state.batch and (unit.failure is not None or unit.broken is not None):
        with transaction.atomic():
            execution_lock.lock(state)
            iterations.give_back_batch(state)
    decision = decide(
        state,
        work,
        unit,
        random=random.random(),  # noqa: S311 - spreads retries, guards nothing
        checkpoint=checkpoints.wants_lock(state, work, unit),
    )
    match decision.ending:
        case Ending.RECORD:
            return _record_unlocked(state, work, unit)
        case Ending.RECORD_LOCKED:
            return _record_locked(state, work, unit)
        case Ending.RECORD_LAST:
            _record_last(state, work, unit)
        case Ending.SLEEP:
            return _record_wait(state, work, unit)
        case Ending.RETRY:
            return _record_retry(state, work, unit, decision.delay)
        case Ending.HANDLE_ERROR:
            return _record_handled(state, work, unit)
        case Ending.DEAD_LETTER:
            dead_letter(state, work, unit)
    return None


def _record_unlocked(state: SegmentState, work: Work, unit: Unit) -> Work | None:
    if state.pack is not None and not state.context.header:
        state.owes_join = bool(state.pack.left and state.frontier.unsettled)
    next_steps = _next_steps(state, work, unit)
    sibling = _sibling(state, unit, next_steps)
    if sibling is not None:
        with suppress(LoadsOutside):
            return _hand_on(state, work, unit, sibling)
        # The sibling's inputs read stored values, so claim it after this transaction, when they can
        # be loaded.
        assert state.pack is not None
        state.pack.seen[state.path(sibling.step)] = sibling
        state.pack.left.appendleft(state.path(sibling.step))
    write_result.write(state, work, unit, next_steps)
    checkpoints.note(state, unit)
    return _go_on(state, work, next_steps)


def _next_steps(state: SegmentState, work: Work, unit: Unit) -> NextSteps:
    """Choose the next steps, and render the inputs of the step that this worker runs."""
    limits, broken = config(), unit.broken
    choice = choose(
        state, work, broken, SegmentLimits(limits.segment_steps, limits.segment_seconds)
    )
    state.frontier.ready = choice.kept
    if choice.step is None:
        return NextSteps(pending=choice.pending)
    step = state.graph.steps[choice.step]
    try:
        inputs: Inputs = (
            attempt_prepare(state, step, 1) if broken is None else (broken.prepared, broken.failure)
        )
    except LoadsOutside:  # the worker that receives the message loads the value first
        state.frontier.ready = []
        return NextSteps(pending=[*choice.pending, choice.step, *choice.kept])
    return NextSteps(step, uuid7(), *inputs, pending=choice.pending)


def _sibling(state: SegmentState, unit: Unit, next_steps: NextSteps) -> LiveRun | None:
    """Return the sibling to claim with the record; None if none is ready or new rows are added."""
    if state.pack is None or next_steps.step is not None or next_steps.pending:
        return None
    if unit.more or unit.skipped or state.frontier.skipped:
        return None
    return state.pack.following()


def _hand_on(state: SegmentState, work: Work, unit: Unit, sibling: LiveRun) -> Work | None:
    """Record a unit and claim a sibling in the same statement; return the sibling's work.

    Return None if the sibling could not be claimed.
    """
    prepared, failure = attempt_prepare(state, sibling.step, sibling.attempt)
    claimed_at = time.monotonic()
    try:
        claimed = write_result.record_and_claim_sibling(state, work, unit, sibling, prepared)
    except LeaseLost:
        assert state.pack is not None
        state.pack.left.appendleft(state.path(sibling.step))
        raise
    checkpoints.note(state, unit)
    if not claimed:
        return None
    state.turn_to(sibling.step)
    return Work(
        run_id=sibling.id,
        execution_id=state.context.execution_id,
        token=1,
        holder=work.holder,
        step=sibling.step,
        path=state.path(sibling.step),
        prepared=prepared,
        failure=failure,
        attempt=sibling.attempt,
        budget=sibling.budget,
        claimed_at=claimed_at,
    )


def _record_retry(state: SegmentState, work: Work, unit: Unit, delay: float) -> Work | None:
    state.failure = unit.failure
    next_steps = NextSteps(
        pending=list(state.frontier.ready),
        retry=write_result.retry_row(state, work, delay, unit.details),
    )
    write_result.write(state, work, unit, next_steps, run_state=RunState.FAILED)
    return _go_on(state, work, next_steps)


def _record_handled(state: SegmentState, work: Work, unit: Unit) -> Work | None:
    """Record a failure that an `error` edge or the enclosing container handles, and continue."""
    state.failure = failure = unit.failure
    assert failure is not None
    error = failed(failure.message, failure.error_type.value, work.path)
    state.ended(work.step, "error", None, error)
    return _record_locked(state, work, unit, run_state=RunState.FAILED, outcome="error")


def dead_letter(state: SegmentState, work: Work, unit: Unit, *, manual: str | None = None) -> Any:
    """Record a permanent failure, and create and return the dead letter (None in a test run).

    The execution fails if no other step is in progress. `manual` is the reason for a quarantine.
    """
    state.failure = failure = unit.failure
    assert failure is not None
    with transaction.atomic():
        execution_lock.lock(state)
        next_steps = NextSteps(pending=list(state.frontier.ready))
        others = write_result.write(
            state, work, unit, next_steps, run_state=RunState.DLQ, survey=True
        )
        letter = file_dead_letter(work.run_id, failure, failure.error_type in RETRIED, manual)
        if manual is not None:
            child_executions.leave_awaited(work.run_id)
        if state.ended_turns or (not others and not next_steps.pending):
            finish.conclude(state, others=bool(others or next_steps.pending))
        write_result.publish(state, next_steps)
    state.frontier = Frontier()
    return letter


def _record_last(state: SegmentState, work: Work, unit: Unit) -> None:
    """Record the unit and end the execution; on NoOutput, plan the execution under the lock."""
    try:
        output = finish.output_of(state)
    except finish.NoOutput:
        _record_locked(state, work, unit)
        return
    with nullcontext() if ended.commits_alone() else transaction.atomic():
        with _claiming_next(state) as also:
            end = write_result.write_last(state, work, unit, output, also)
        if end is not None:
            ended.tell(
                state.context.execution_id,
                ExecutionState.SUCCESS,
                end.parent_run_id,
                end.trigger_id,
                frees=end.frees,
            )
    state.frontier = Frontier()


@contextmanager
def _claiming_next(state: SegmentState) -> Iterator[Also | None]:
    """Yield a statement to send with the record: it claims the run of the pack's next execution.

    Yield None if no run is next, or in a transaction, whose rollback would undo the claim.
    """
    pack = state.executions
    request = None if connection.in_atomic_block else claim_run.request_next(pack)
    if pack is None or request is None:
        yield None
        return
    also = Also(("claim_without_waiting", request.params))
    try:
        yield also
    finally:
        claimed = request.claimed(also.rows[0] if also.rows else None)
        if claimed is None:
            pack.put_back(request.state.context.execution_id, request.state, request.seen)
        else:
            pack.claimed = request.state, claimed


def _record_locked(
    state: SegmentState,
    work: Work,
    unit: Unit,
    *,
    run_state: RunState = RunState.SUCCESS,
    outcome: str | None = None,
) -> Work | None:
    """Lock the execution, record a unit, and plan or end the execution; return the next work."""
    finish.load_output(state)
    with transaction.atomic():
        next_steps, others = _write_locked(state, work, unit, run_state, outcome)
        checkpoints.note(state, unit)
        goes_on = next_steps.step or next_steps.pending or others or state.place.outer
        if next_steps.step is None and (state.resumed or not next_steps.pending):
            # The previous holder of this segment may have known of more ready steps, so check in
            # any case.
            live = bool(others or next_steps.pending)
            finish.conclude(state, others=live)
        if goes_on:
            checkpoints.after_step(state, work, unit)
        write_result.publish(state, next_steps)
    state.owes_join = False
    return _next_work(state, work, next_steps)


def _write_locked(
    state: SegmentState, work: Work, unit: Unit, run_state: RunState, outcome: str | None
) -> tuple[NextSteps, bool | None]:
    """Lock the execution, and record the unit with its next steps.

    Return the next steps, and whether other runs are live. Takes one round trip if the choice needs
    no data that must be read under the lock.
    """
    variables = unit.variables
    if not variables and not state.frontier.unsettled:
        next_steps = _next_steps(state, work, unit)
        return next_steps, write_result.lock_and_write(
            state, work, unit, next_steps, run_state=run_state, outcome=outcome
        )
    execution_lock.lock(state)
    if variables:
        state.data.variables = _merge_variables(state, variables)
    _settle_joins(state)
    next_steps = _next_steps(state, work, unit)
    others = write_result.write(
        state, work, unit, next_steps, run_state=run_state, outcome=outcome, survey=True
    )
    return next_steps, others


def _record_wait(state: SegmentState, work: Work, unit: Unit) -> Work | None:
    wait = unit.wait
    assert wait is not None
    if wait.kind is not WaitKind.CHILD:
        suspend.suspend(state, work, unit, wait)
        return None
    try:
        call = child_executions.look_up(state, work, wait.facts)
        with transaction.atomic():
            execution_lock.lock(state)
            child = child_executions.start(call, work)
            if call.waits:
                waits = replace(wait, key=str(child), facts=child_executions.noted(call, child))
                suspend.suspend(state, work, unit, waits)
                return None
            done = child_executions.detached(state, work, unit, child)
            return _record_locked(state, work, done)
    except child_executions.ChildRefused as refused:
        return _record(state, work, replace(unit, wait=None, failure=refused.failure))


def _settle_joins(state: SegmentState) -> None:
    """Read the outcomes of other segments that this segment's joins need; decide these joins."""
    graph = state.graph
    frontier = state.frontier
    looked: set[int] = set()
    while frontier.unsettled:
        unknown = {
            edge.source
            for join in frontier.unsettled
            for edge in graph.tasks[join].incoming
            if edge.source not in state.outcomes
        } - looked
        if not unknown:
            return
        looked |= unknown
        paths = [path for task in unknown for path in template_data.task_paths(state.place, task)]
        rows_found = statements.fetch(
            "outcomes",
            {"execution": state.context.execution_id, "epoch": state.context.epoch, "paths": paths},
        )
        found = task_outcomes(graph, plan_from_rows.facts_of(graph, rows_found))
        if not found:
            return
        state.outcomes.update(found)
        state.decide_joins()


def _go_on(state: SegmentState, work: Work, next_steps: NextSteps) -> Work | None:
    write_result.publish(state, next_steps)
    return _next_work(state, work, next_steps)


def _next_work(state: SegmentState, work: Work, next_steps: NextSteps) -> Work | None:
    state.frontier = Frontier(ready=state.frontier.ready)
    if next_steps.step is None or next_steps.run_id is None:
        return None
    if not next_steps.step.inline:
        state.carried += 1
        state.seconds += next_steps.step.timeout_seconds
    return Work(
        run_id=next_steps.run_id,
        execution_id=state.context.execution_id,
        token=1,
        holder=work.holder,
        step=next_steps.step,
        path=state.path(next_steps.step),
        prepared=next_steps.prepared,
        failure=next_steps.failure,
        claimed_at=next_steps.made_at,
    )


def _merge_variables(state: SegmentState, changes: dict[str, Any]) -> dict[str, Any]:
    """Merge the declared variables of `changes` into the execution's; return all variables."""
    declared = {key: value for key, value in changes.items() if key in state.graph.variables}
    row = statements.fetch_one(
        "variables",
        {
            "execution": state.context.execution_id,
            "changes": state.context.sealer.each(
                payloads.dump(declared, "variables"), "context_data"
            ),
        },
    )
    if row is None:
        return state.data.variables
    return dict(opened_variables(state.context.execution_id, row[0]))
