"""Record what ran, under the lease, and decide what is next: claimed, dispatched, or the end.

Most steps need one statement and no lock. The execution's lock is taken when a join with other
segments may be ready, when variables are written, and when nothing follows.
"""

import logging
import random
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import transaction
from uuid6 import uuid7

from executions import payloads
from executions.graph.model import Step
from runners import dispatch, ending, retry, rows, statements
from runners.canvas import Chord, arrange
from runners.conf import config
from runners.errors import LeaseLost
from runners.events import run_dead_lettered
from runners.journey import Frontier, Journey, failed
from runners.leases import attempt_prepare
from runners.outcomes import Failure
from runners.prepare import Prepared
from runners.states import ErrorType, RunState
from runners.work import Broken, Unit, Work

log = logging.getLogger(__name__)

RETRIED = (ErrorType.TRANSIENT, ErrorType.TIMEOUT)


@dataclass(slots=True)
class Onward:
    """What a record adds: one claimed run at most, and pending ones."""

    step: Step | None = None
    run_id: UUID | None = None
    prepared: Prepared | None = None
    failure: Failure | None = None
    pending: list[int] = field(default_factory=list)
    retry: str | None = None


def record(journey: Journey, work: Work, unit: Unit) -> Work | None:
    """Record a unit; return the work to go on with, or None at the segment's end.

    Raises LeaseLost when the run is no more ours: nothing was recorded then.
    """
    if unit.failure is not None:
        return _record_failure(journey, work, unit, unit.failure)
    if _writes_variables(unit) or _needs_lock(journey, unit):
        return _record_locked(journey, work, unit)
    onward = _choose(journey, work, unit.broken)
    _recorded(journey, work, unit, onward)
    return _go_on(journey, work, onward)


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
            pending=list(journey.frontier.ready), retry=_retry_row(journey, work, delay)
        )
        _recorded(journey, work, unit, onward, state=RunState.FAILED)
        return _go_on(journey, work, onward)
    task = journey.graph.tasks[work.step.task]
    if task.handles_error:
        error = failed(failure.message, failure.error_type.value, work.step.path)
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
        _lock(journey)
        onward = Onward(pending=list(journey.frontier.ready))
        others = _recorded(journey, work, unit, onward, state=RunState.DLQ, survey=True)
        answers = run_dead_lettered.send(
            Work,
            run_id=work.run_id,
            failure=failure,
            exhausted=failure.error_type in RETRIED,
            manual=manual,
        )
        if not others and not onward.pending:
            ending.settle_or_end(journey)
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
        _lock(journey)
        variables = _variables(unit)
        if variables:
            journey.variables = _merge_variables(journey, variables)
        _settle_joins(journey)
        onward = _choose(journey, work, unit.broken)
        others = _recorded(journey, work, unit, onward, state=state, outcome=outcome, survey=True)
        # Whoever carried this segment before may have known of more ready steps: look at all.
        orphans = journey.resumed and onward.step is None
        if orphans or (onward.step is None and not onward.pending and not others):
            ending.settle_or_end(journey, others=bool(others or onward.pending))
        _publish(journey, onward)
    return _next_work(journey, work, onward)


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
        paths = [graph.steps[i].path for task in unknown for i in graph.tasks[task].steps]
        found = ending.outcomes(
            graph,
            statements.fetch(
                "outcomes",
                {"execution": journey.execution_id, "epoch": journey.epoch, "paths": paths},
            ),
        )
        if not found:
            return
        journey.outcomes.update(found)
        journey.decide_joins()


def _choose(journey: Journey, work: Work, broken: Broken | None) -> Onward:
    """Which ready step this worker goes on with, and which are sent to others."""
    graph = journey.graph
    ready = journey.frontier.ready
    effects = [index for index in ready if not graph.steps[index].inline]
    inline = [index for index in ready if graph.steps[index].inline]
    onward = Onward(run_id=uuid7())
    if broken is not None:
        onward.step, onward.prepared, onward.failure = broken.step, broken.prepared, broken.failure
        onward.pending = effects
    elif inline:
        onward.step, onward.pending = graph.steps[inline[0]], effects
        ready.remove(inline[0])
    elif effects:
        mine = _mine(journey, work, effects)
        onward.step = None if mine is None else graph.steps[mine]
        onward.pending = [index for index in effects if index != mine]
    journey.frontier.ready = [index for index in ready if graph.steps[index].inline]
    if onward.step is not None and onward.prepared is None and onward.failure is None:
        onward.prepared, onward.failure = attempt_prepare(journey, onward.step, 1)
    return onward


def _mine(journey: Journey, work: Work, effects: list[int]) -> int | None:
    """The effect step to go on with: on this queue, within bounds, no chord's branch."""
    limits = config()
    graph = journey.graph
    if journey.carried >= limits.segment_steps:
        return None
    chords = {
        link.segment
        for canvas in arrange(graph, effects, headers=limits.chord_headers, links=1)
        if isinstance(canvas, Chord)
        for link in canvas.headers
    }
    for index in effects:
        step = graph.steps[index]
        fits = journey.seconds + step.timeout_seconds <= limits.segment_seconds
        if step.queue == work.step.queue and fits and step.path not in chords:
            return index
    return None


def _needs_lock(journey: Journey, unit: Unit) -> bool:
    """Whether a join may be ready, or the end be reached, without us knowing it."""
    if journey.resumed:
        return True
    frontier = journey.frontier
    graph = journey.graph
    unfinished = [graph.steps[index].task for index in frontier.ready]
    if unit.broken is not None:
        unfinished.append(unit.broken.step.task)
    if not unfinished:
        return not journey.header or not frontier.unsettled
    if journey.header:
        return False
    waiting = set(unfinished)
    return any(
        not any(
            edge.source in waiting
            for edge in graph.tasks[join].incoming
            if edge.source not in journey.outcomes
        )
        for join in frontier.unsettled
    )


def _recorded(
    journey: Journey,
    work: Work,
    unit: Unit,
    onward: Onward,
    *,
    state: RunState = RunState.SUCCESS,
    outcome: str | None = None,
    survey: bool = False,
) -> bool | None:
    """Run `record.sql`; returns whether other runs are live, if asked. Raises LeaseLost."""
    head = unit.head
    failure = unit.failure
    limits = config()
    row = statements.fetch_one(
        "record",
        {
            "execution": journey.execution_id,
            "epoch": journey.epoch,
            "run": work.run_id,
            "token": work.token,
            "holder": work.holder,
            "state": state.value,
            "outcome": outcome or (head.result.outcome if head else ""),
            "outputs": head.outputs if head else None,
            "error": failure.message if failure else "",
            "error_type": failure.error_type.value if failure else "",
            "error_details": _error_details(failure),
            "logs": payloads.dump(logs, "log")
            if (logs := head.logs if head else unit.logs)
            else None,
            "duration_ms": head.milliseconds if head else unit.milliseconds,
            "cost_tokens": head.tokens if head else 0,
            "cost_amount": head.amount if head else 0,
            "lease": limits.lease,
            "patience": limits.patience,
            "rows": _rows(journey, unit, onward),
            "survey": survey,
        },
    )
    assert row is not None
    recorded, _, claims, others = row
    if not recorded:
        log.warning("fenced: run %s of %s is no more ours", work.run_id, journey.execution_id)
        raise LeaseLost(str(work.run_id))
    if onward.step is not None and not claims:
        onward.step = None  # paused: the row is pending, and waits for the resume
        onward.run_id = None
    return None if others is None else bool(others)


def _rows(journey: Journey, unit: Unit, onward: Onward) -> str:
    version = journey.version.id
    steps, tasks = journey.graph.steps, journey.graph.tasks
    parts = [
        rows.succeeded(
            version, done.step, journey.segment, done.prepared, done.outputs,
            done.result.outcome, done.milliseconds,
        )
        for done in unit.more
    ]  # fmt: skip
    parts += [
        rows.skipped(version, steps[tasks[task].steps[0]]) for task in journey.frontier.skipped
    ]
    if onward.step is not None and onward.run_id is not None:
        parts.append(
            rows.claimed(version, onward.step, journey.segment, onward.run_id, onward.prepared)
        )
    parts += [rows.pending(version, steps[index]) for index in onward.pending]
    if onward.retry is not None:
        parts.append(onward.retry)
    return f"[{','.join(parts)}]"


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
        prepared=onward.prepared,
        failure=onward.failure,
    )


def _publish(journey: Journey, onward: Onward) -> None:
    steps = journey.graph.steps
    ready = [index for index in onward.pending if steps[index].path not in journey.links]
    if ready:
        dispatch.publish_after_commit(
            [
                dispatch.parcel(
                    journey.execution_id,
                    journey.version.id,
                    journey.priority,
                    journey.graph,
                    ready,
                )
            ]
        )


def _retry_row(journey: Journey, work: Work, delay: float) -> str:
    return rows.pending(
        journey.version.id,
        work.step,
        segment=journey.segment,
        attempt=work.attempt + 1,
        budget=work.budget,
        delay=delay,
        overrides=work.overrides,
    )


def _lock(journey: Journey) -> None:
    row = statements.fetch_one("lock", {"execution": journey.execution_id})
    if row is None or row[0] not in ("RUNNING", "PAUSED") or row[1] != journey.epoch:
        raise LeaseLost(f"execution {journey.execution_id} is over, or was rolled back")
    ending.note_state(journey, row[0])


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


def _error_details(failure: Failure | None) -> str | None:
    if failure is None:
        return None
    return payloads.dump(
        {
            "exception": failure.exception,
            "traceback": failure.traceback,
            "details": failure.details,
        },
        "error",
    )
