"""Record what ran, under the lease, and decide what is next: claimed, dispatched, or the end.

Most steps need one statement and no lock. The execution's lock is taken when a join with other
segments may be ready, when variables are written, and when nothing follows.
"""

import random
from dataclasses import replace
from functools import partial
from typing import Any

from django.db import transaction

from executions import payloads
from executions.admission import capacity
from executions.definition.graph.plan import task_outcomes
from runners import statements
from runners.budgets import spending
from runners.containers import iterations, start_child
from runners.dispatch import messages
from runners.errors import LeaseLost
from runners.events import run_dead_lettered
from runners.failures import retry
from runners.failures.classification import Failure
from runners.modules.base import Wait
from runners.pipeline import checkpoints, finish, plan_from_rows, record_statement
from runners.pipeline.claim_run import attempt_prepare
from runners.pipeline.next_steps import Onward, choose, needs_lock
from runners.pipeline.record_statement import Written
from runners.segment import execution_lock, insert_runs, run_rows, template_scope
from runners.segment.live_run import Seen
from runners.segment.state import Frontier, Journey, failed
from runners.segment.work import Unit, Work
from runners.states import ErrorType, RunState, WaitKind
from runners.waits.callbacks import hand_over
from runners.waits.deliver import catch_up

RETRIED = (ErrorType.TRANSIENT, ErrorType.TIMEOUT)


def record(journey: Journey, work: Work, unit: Unit) -> Work | None:
    """Record a unit; return the work to go on with, or None at the segment's end.

    Raises LeaseLost when the run is no more ours: nothing was recorded then. What an attempt cost
    is written down last, since the counters of budgets are shared by all of a workspace's steps.
    """
    if not unit.costs:
        return _record(journey, work, unit)
    spending.wake_connection()
    with transaction.atomic():
        following = _record(journey, work, unit)
        spending.note(journey, work, unit)
    return following


def _record(journey: Journey, work: Work, unit: Unit) -> Work | None:
    if journey.batch and (unit.failure is not None or unit.broken is not None):
        with transaction.atomic():
            execution_lock.lock(journey)
            iterations.give_back_batch(journey)
    if unit.failure is not None:
        return _record_failure(journey, work, unit, unit.failure)
    if unit.wait is not None:
        return _record_wait(journey, work, unit, unit.wait)
    wanted = checkpoints.wants_lock(journey, work, unit)
    if wanted or _writes_variables(unit) or needs_lock(journey, unit):
        return _record_locked(journey, work, unit)
    onward = choose(journey, work, unit.broken)
    sibling = _sibling(journey, unit, onward)
    if sibling is not None:
        return _hand_on(journey, work, unit, sibling)
    record_statement.write(journey, work, unit, onward)
    checkpoints.note(journey, unit)
    return _go_on(journey, work, onward)


def _sibling(journey: Journey, unit: Unit, onward: Onward) -> Seen | None:
    """The sibling to claim with a segment's last record, where nothing else is to be written."""
    if journey.pack is None or onward.step is not None or onward.pending:
        return None
    if unit.more or unit.skipped or journey.frontier.skipped:
        return None
    return journey.pack.following()


def _hand_on(journey: Journey, work: Work, unit: Unit, sibling: Seen) -> Work | None:
    """Record, and claim a sibling in the same statement; None when somebody else has it."""
    prepared, failure = attempt_prepare(journey, sibling.step, sibling.attempt)
    try:
        claimed = record_statement.hand_on(journey, work, unit, sibling, prepared)
    except LeaseLost:
        assert journey.pack is not None
        journey.pack.left.appendleft(journey.path(sibling.step))
        raise
    checkpoints.note(journey, unit)
    if not claimed:
        return None
    journey.turn_to(sibling.step)
    return Work(
        run_id=sibling.id,
        token=1,
        holder=work.holder,
        step=sibling.step,
        path=journey.path(sibling.step),
        prepared=prepared,
        failure=failure,
        attempt=sibling.attempt,
        budget=sibling.budget,
    )


def _record_failure(journey: Journey, work: Work, unit: Unit, failure: Failure) -> Work | None:
    journey.failure = failure
    delay = None
    if failure.error_type in RETRIED:
        delay = retry.delay(
            work.step.retry,
            work.attempt - work.budget + 1,
            random=random.random(),  # noqa: S311 - spreads retries, guards nothing
            retry_after=failure.retry_after,
        )
    if delay is not None:
        onward = Onward(
            pending=list(journey.frontier.ready),
            retry=record_statement.retry_row(journey, work, delay, unit.details),
        )
        record_statement.write(journey, work, unit, onward, state=RunState.FAILED)
        return _go_on(journey, work, onward)
    task = journey.graph.tasks[work.step.task]
    if task.handles_error or journey.graph.guarded:
        error = failed(failure.message, failure.error_type.value, work.path)
        journey.ended(work.step, "error", None, error)
        return _record_locked(journey, work, unit, state=RunState.FAILED, outcome="error")
    dead_letter(journey, work, unit, failure)
    return None


def dead_letter(
    journey: Journey, work: Work, unit: Unit, failure: Failure, *, manual: str | None = None
) -> Any:
    """Record a run as dead and tell the dead-letter queue; what it answers is returned.

    The execution fails when nothing else is in flight. `manual` is the reason of a quarantine.
    """
    with transaction.atomic():
        execution_lock.lock(journey)
        onward = Onward(pending=list(journey.frontier.ready))
        others = record_statement.write(
            journey, work, unit, onward, state=RunState.DLQ, survey=True
        )
        answers = run_dead_lettered.send(
            Work,
            run_id=work.run_id,
            failure=failure,
            exhausted=failure.error_type in RETRIED,
            manual=manual,
        )
        if journey.ended_turns or (not others and not onward.pending):
            finish.conclude(journey, others=bool(others or onward.pending))
        _publish(journey, onward)
    journey.frontier = Frontier()
    return next((answer for _, answer in answers if answer is not None), None)


def _record_locked(
    journey: Journey,
    work: Work,
    unit: Unit,
    *,
    state: RunState = RunState.SUCCESS,
    outcome: str | None = None,
) -> Work | None:
    """Record, plan and perhaps end the execution under its lock."""
    with transaction.atomic():
        onward, written = _write_locked(journey, work, unit, state, outcome)
        others = written.others
        checkpoints.note(journey, unit)
        goes_on = onward.step or onward.pending or others or journey.place.outer
        if onward.step is None and (journey.resumed or not onward.pending):
            # Whoever carried this segment before may have known of more ready steps: look at all.
            live = bool(others or onward.pending)
            finish.conclude(journey, others=live, figures=written.figures)
        if goes_on:
            checkpoints.after_step(journey, work, unit)
        _publish(journey, onward)
    return _next_work(journey, work, onward)


def _write_locked(
    journey: Journey, work: Work, unit: Unit, state: RunState, outcome: str | None
) -> tuple[Onward, Written]:
    """Lock the execution, choose what is next and write it.

    In one round trip where the choice needs nothing that only the lock makes certain.
    """
    variables = _variables(unit)
    if not variables and not journey.frontier.unsettled:
        onward = choose(journey, work, unit.broken)
        return onward, record_statement.lock_and_write(
            journey, work, unit, onward, state=state, outcome=outcome
        )
    execution_lock.lock(journey)
    if variables:
        journey.variables = _merge_variables(journey, variables)
    _settle_joins(journey)
    onward = choose(journey, work, unit.broken)
    others = record_statement.write(
        journey, work, unit, onward, state=state, outcome=outcome, survey=True
    )
    return onward, Written(others)


def _record_wait(journey: Journey, work: Work, unit: Unit, wait: Wait) -> Work | None:
    if wait.kind is not WaitKind.CHILD:
        _suspend(journey, work, unit, wait)
        return None
    try:
        call = start_child.look_up(journey, work, wait.facts)
        with transaction.atomic():
            execution_lock.lock(journey)
            child = start_child.start(call, work)
            if call.waits:
                waits = replace(wait, key=str(child), facts=start_child.noted(call, child))
                _suspend(journey, work, unit, waits)
                return None
            done = start_child.detached(journey, work, unit, child)
            return _record_locked(journey, work, done)
    except start_child.Refused as refused:
        failed_unit = replace(unit, wait=None, failure=refused.failure)
        return _record_failure(journey, work, failed_unit, refused.failure)


def _suspend(journey: Journey, work: Work, unit: Unit, wait: Wait) -> None:
    """Put the run to sleep, start what it waits for, and let go of the place if all sleeps."""
    tokens, amount = spending.totals(unit)
    with transaction.atomic():
        execution_lock.lock(journey)
        facts = dict(wait.facts)
        row = statements.fetch_one(
            "suspend",
            {
                "execution": journey.execution_id,
                "run": work.run_id,
                "token": work.token,
                "holder": work.holder,
                "kind": wait.kind.value,
                "key": wait.key,
                "facts": payloads.dump(facts, "facts of the wait"),
                "seconds": wait.seconds,
                "until": wait.until,
                "logs": payloads.dump(unit.logs, "log") if unit.logs else None,
                "duration_ms": unit.milliseconds,
                "cost_tokens": tokens,
                "cost_amount": amount,
            },
        )
        if row is None:
            raise LeaseLost(str(work.run_id))
        awake = row[1] or _heard(journey, work, wait)
        onward = Onward(pending=list(journey.frontier.ready))
        if onward.pending:
            insert_runs.insert(
                journey,
                [run_rows.pending(journey.graph.steps[i], journey.prefix) for i in onward.pending],
            )
        if wait.kind is WaitKind.BODY:
            iterations.open_turns(journey, work, facts)
            journey.passed.turn = journey.passed.turn or work.step.container == "loop"
        elif wait.kind is not WaitKind.CHILD and not awake and not onward.pending:
            capacity.release_slot(journey.execution_id)
        checkpoints.after_step(journey, work, unit)
        _publish(journey, onward)
    journey.frontier = Frontier()


def _heard(journey: Journey, work: Work, wait: Wait) -> bool:
    """Whether what the run waits for came before; an event may come while it falls asleep."""
    if wait.kind is WaitKind.EVENT:
        transaction.on_commit(partial(catch_up, work.run_id), robust=True)
    return wait.kind is WaitKind.CALLBACK and hand_over(
        journey.execution_id, work.run_id, work.path
    )


def _settle_joins(journey: Journey) -> None:
    """Look up how the other predecessors of our joins ended, and follow on from there."""
    graph = journey.graph
    frontier = journey.frontier
    looked: set[int] = set()
    while frontier.unsettled:
        unknown = {
            edge.source
            for join in frontier.unsettled
            for edge in graph.tasks[join].incoming
            if edge.source not in journey.outcomes
        } - looked
        if not unknown:
            return
        looked |= unknown
        paths = [
            path for task in unknown for path in template_scope.task_paths(journey.place, task)
        ]
        rows_found = statements.fetch(
            "outcomes",
            {"execution": journey.execution_id, "epoch": journey.epoch, "paths": paths},
        )
        found = task_outcomes(graph, plan_from_rows.facts_of(graph, rows_found))
        if not found:
            return
        journey.outcomes.update(found)
        journey.decide_joins()


def _go_on(journey: Journey, work: Work, onward: Onward) -> Work | None:
    _publish(journey, onward)
    return _next_work(journey, work, onward)


def _next_work(journey: Journey, work: Work, onward: Onward) -> Work | None:
    journey.frontier = Frontier(ready=journey.frontier.ready)
    if onward.step is None or onward.run_id is None:
        return None
    if not onward.step.inline:
        journey.carried += 1
        journey.seconds += onward.step.timeout_seconds
    return Work(
        run_id=onward.run_id,
        token=1,
        holder=work.holder,
        step=onward.step,
        path=journey.path(onward.step),
        prepared=onward.prepared,
        failure=onward.failure,
    )


def _publish(journey: Journey, onward: Onward) -> None:
    steps = journey.graph.steps
    ready = [index for index in onward.pending if journey.path(steps[index]) not in journey.links]
    if ready:
        messages.publish_after_commit(
            [
                messages.parcel(
                    journey.execution_id,
                    journey.version.id,
                    journey.priority,
                    journey.place,
                    ready,
                )
            ]
        )


def _writes_variables(unit: Unit) -> bool:
    return any(_variables(unit))


def _variables(unit: Unit) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for done in [unit.head, *unit.more]:
        if done is not None and done.result.variables:
            merged.update(done.result.variables)
    return merged


def _merge_variables(journey: Journey, changes: dict[str, Any]) -> dict[str, Any]:
    """Merge declared keys; the last commit wins a clash."""
    declared = {key: value for key, value in changes.items() if key in journey.graph.variables}
    row = statements.fetch_one(
        "variables",
        {"execution": journey.execution_id, "changes": payloads.dump(declared, "variables")},
    )
    return dict(row[0]) if row else journey.variables
