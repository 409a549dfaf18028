"""The statements that record a unit and insert the next runs, and the rows of these runs."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.db import InterfaceError, OperationalError

from executions import payloads
from executions.database import connection, transaction
from executions.definition.graph.model import Step
from runners import statements
from runners.conf import config
from runners.dispatch import messages
from runners.errors import LeaseLost
from runners.failures.classification import Failure
from runners.observability import metrics
from runners.pipeline import result_cache
from runners.segment import execution_lock, run_rows
from runners.segment.inputs import Prepared, stored_inputs
from runners.segment.state import SegmentState
from runners.segment.work import LiveRun, Unit, Work
from runners.states import RunState

log = logging.getLogger(__name__)

T = TypeVar("T")
ASSESSING = "quality.assess"  # `figures` reads the results of this module's runs


@dataclass(slots=True)
class Also:
    """An additional statement for the same round trip, and the rows that the statement returns."""

    asked: tuple[str, dict[str, Any]]
    rows: list[tuple[Any, ...]] = field(default_factory=list)


@dataclass(slots=True)
class NextSteps:
    """The runs that a record inserts: at most one claimed run and one retry, and pending runs."""

    step: Step | None = None
    run_id: UUID | None = None
    prepared: Prepared | None = None
    failure: Failure | None = None
    pending: list[int] = field(default_factory=list)
    retry: str | None = None
    made_at: float = field(default_factory=time.monotonic)


class LastWritten(NamedTuple):
    """The data that notifications of an execution's end need."""

    parent_run_id: UUID | None
    trigger_id: UUID | None
    frees: bool  # whether the end frees a concurrency key or a slot that others may wait for


def write(
    state: SegmentState,
    work: Work,
    unit: Unit,
    next_steps: NextSteps,
    *,
    run_state: RunState = RunState.SUCCESS,
    outcome: str | None = None,
    survey: bool = False,
) -> bool | None:
    """Record the unit and its next steps; return whether other runs are live (None: not read).

    Raises LeaseLost if another worker holds the run.
    """
    if not survey and run_state is RunState.SUCCESS and _went_on(state, work, unit, next_steps):
        return None
    row = _insist(*_record(state, work, unit, next_steps, run_state, outcome, survey=survey))
    return _written(state, work, unit, next_steps, run_state, row)


def _went_on(state: SegmentState, work: Work, unit: Unit, next_steps: NextSteps) -> bool:
    """Record a unit of one step and begin the next step, if no other write is necessary.

    Return whether the unit was recorded.
    """
    done, step, prepared = unit.head, next_steps.step, next_steps.prepared
    more = unit.more or unit.skipped or state.frontier.skipped or next_steps.pending or unit.costs
    if more or done is None or done.logs or done.cached_from or step is None or prepared is None:
        return False
    limits = config()
    sealer, path = state.context.sealer, state.path(step)
    begun = _insist(
        "record_and_begin_next",
        {
            "execution": state.context.execution_id,
            "epoch": state.context.epoch,
            "run": work.run_id,
            "token": work.token,
            "holder": work.holder,
            "outcome": done.result.outcome,
            "outputs": sealer.json(done.outputs, "outputs", work.path),
            "duration_ms": done.milliseconds,
            "lease": limits.lease,
            "next": next_steps.run_id,
            "segment": state.segment,
            "path": path,
            "task": step.task_uuid,
            "module_id": step.module_uuid,
            "module": step.module,
            "queue": step.queue,
            "timeout": step.timeout_seconds,
            "key": prepared.key,
            "inputs_hash": prepared.hash,
            "config_hash": step.config_hash,
            "inputs": sealer.json(prepared.text, "inputs", path),
        },
    )
    if begun is None:
        return False
    _note(state, work, unit, RunState.SUCCESS, recorded=1, retried=False)
    return True


def lock_and_write(
    state: SegmentState,
    work: Work,
    unit: Unit,
    next_steps: NextSteps,
    *,
    run_state: RunState = RunState.SUCCESS,
    outcome: str | None = None,
) -> bool | None:
    """Lock the execution, then `write`, in one round trip; return whether other runs are live.

    Call this function inside a transaction. The record is a separate statement, so it sees commits
    made while it waited for the lock. If LeaseLost is raised, the transaction undoes the writes.
    """
    record = _record(state, work, unit, next_steps, run_state, outcome, survey=True)
    locked, recorded = statements.fetch_together([execution_lock.asked(state), record])
    execution_lock.check(state, locked[0] if locked else None)
    return _written(state, work, unit, next_steps, run_state, recorded[0])


def write_last(
    state: SegmentState, work: Work, unit: Unit, output: Any, also: Also | None = None
) -> LastWritten | None:
    """Lock the execution, record the unit and end the execution, in one or two round trips.

    Return None if the unit was recorded and the execution continues: another run is live, or the
    execution is paused. If the lease is lost, raises LeaseLost and writes nothing. `also` concerns
    another execution and runs with the first statements.
    """
    nothing = NextSteps()
    name, params = _record(state, work, unit, nothing, RunState.SUCCESS, None, survey=False)
    sealer = state.context.sealer
    text = None if output is None else sealer.json(payloads.dump(output, "output"), "output")
    ending = params | {"output": text}
    if name == "record_without_new_runs" and _is_only(state, work):
        [end] = _together([("record_only_step_and_end", ending)], also)
        also = None
        if end:
            _note(state, work, unit, RunState.SUCCESS, recorded=1, retried=False)
            return LastWritten(*end[0])
    asked = [execution_lock.asked(state), (name, params), ("end_as_success", ending)]
    locked, recorded, ended = _together(asked, also)
    execution_lock.check(state, locked[0] if locked else None)
    _written(state, work, unit, nothing, RunState.SUCCESS, recorded[0])
    return LastWritten(*ended[0]) if ended else None


def _together(
    asked: Sequence[tuple[str, dict[str, Any]]], also: Also | None
) -> list[list[tuple[Any, ...]]]:
    """Run the statements `asked` and the statement of `also`, if given, in one round trip.

    Return the rows of `asked`; the rows of the statement in `also` are stored in `also.rows`.
    """
    if also is None and len(asked) == 1:
        return [_twice(partial(statements.fetch, *asked[0]))]
    if also is None:
        return _twice(partial(statements.fetch_together, asked))
    *found, also.rows = _twice(partial(statements.fetch_together, [*asked, also.asked]))
    return found


def _is_only(state: SegmentState, work: Work) -> bool:
    """Return whether the execution has only this run, and `figures` does not read its result."""
    steps = state.context.version.graph.steps
    alone = work.attempt == 1 and len(steps) == 1 and not work.step.container
    return alone and work.step.module != ASSESSING


def _record(
    state: SegmentState,
    work: Work,
    unit: Unit,
    next_steps: NextSteps,
    run_state: RunState,
    outcome: str | None,
    *,
    survey: bool,
) -> tuple[str, dict[str, Any]]:
    """Return the name and parameters of the statement that records the unit and adds rows."""
    ending = _ending(state, work, unit, run_state, outcome) | {"survey": survey}
    added = _rows(state, unit, next_steps)
    if not added:
        return "record_without_new_runs", ending
    limits = config()
    bounds = {"lease": limits.lease, "patience": limits.patience}
    return "record", ending | bounds | {"rows": f"[{','.join(added)}]"}


def _written(
    state: SegmentState,
    work: Work,
    unit: Unit,
    next_steps: NextSteps,
    run_state: RunState,
    row: tuple[Any, ...] | None,
) -> bool | None:
    assert row is not None
    recorded, _, claims, others = row
    _note(state, work, unit, run_state, recorded=recorded, retried=next_steps.retry is not None)
    if next_steps.step is not None and not claims:
        # The execution is paused, so the new run is pending until the resume.
        next_steps.step = None
        next_steps.run_id = None
    return None if others is None else bool(others)


def record_and_claim_sibling(
    state: SegmentState, work: Work, unit: Unit, following: LiveRun, prepared: Prepared | None
) -> bool:
    """Record a segment's last step and claim a pending sibling, in one statement.

    The record must insert no runs. Returns whether this worker claimed the sibling. Raises
    LeaseLost if another worker holds the run.
    """
    row = _insist(
        "record_and_claim_sibling",
        _ending(state, work, unit, RunState.SUCCESS, None)
        | {
            "lease": config().lease,
            "next": following.id,
            "timeout": following.step.timeout_seconds,
            "inputs": stored_inputs(state.data, following.step, prepared),
            "inputs_hash": prepared.hash if prepared else "",
            "config_hash": following.step.config_hash,
            "key": prepared.key if prepared else "",
        },
    )
    assert row is not None
    recorded, claimed = row
    _note(state, work, unit, RunState.SUCCESS, recorded=recorded, retried=False)
    return bool(claimed)


def _ending(
    state: SegmentState, work: Work, unit: Unit, run_state: RunState, outcome: str | None
) -> dict[str, Any]:
    """Return the columns of a run that ends, and the values that its fence compares."""
    head, failure, sealer = unit.head, unit.failure, state.context.sealer
    tokens, amount = unit.cost_totals()
    logs = head.logs if head else unit.logs
    return {
        "execution": state.context.execution_id,
        "epoch": state.context.epoch,
        "run": work.run_id,
        "token": work.token,
        "holder": work.holder,
        "state": run_state.value,
        "outcome": outcome or (head.result.outcome if head else ""),
        "outputs": sealer.json(head.outputs, "outputs", work.path) if head else None,
        "error": sealer.text(failure.message, "error", work.path) if failure else "",
        "error_type": failure.error_type.value if failure else "",
        "error_details": _error_details(state, work, failure),
        "logs": sealer.lines(payloads.dump(logs, "log"), "logs", work.path) if logs else None,
        "duration_ms": head.milliseconds if head else unit.milliseconds,
        "cost_tokens": tokens,
        "cost_amount": amount,
        "cached_from": head.cached_from if head else None,
    }


def _note(
    state: SegmentState,
    work: Work,
    unit: Unit,
    run_state: RunState,
    *,
    recorded: int,
    retried: bool,
) -> None:
    """Raise LeaseLost if no row was recorded; otherwise count the unit and cache its result."""
    if not recorded:
        log.warning(
            "fenced: run %s of step %s lost its lease; result discarded",
            work.run_id,
            work.path,
        )
        raise LeaseLost(str(work.run_id))
    metrics.recorded(work, unit, run_state, retried=retried)
    if work.step.cache is not None:
        transaction.on_commit(partial(result_cache.store, state, work, unit), robust=True)


def _rows(state: SegmentState, unit: Unit, next_steps: NextSteps) -> list[str]:
    steps, tasks, prefix = state.graph.steps, state.graph.tasks, state.prefix
    sealer = state.context.sealer
    parts = [
        run_rows.succeeded(
            done.step, done.place.prefix, state.segment, done.prepared, done.outputs,
            done.result.outcome, done.milliseconds, done.run_id, sealer=sealer,
        )
        for done in unit.more
    ]  # fmt: skip
    parts += unit.skipped
    parts += [
        run_rows.skipped(steps[tasks[task].steps[0]], prefix) for task in state.frontier.skipped
    ]
    if next_steps.step is not None and next_steps.run_id is not None:
        parts.append(
            run_rows.claimed(
                next_steps.step,
                prefix,
                state.segment,
                next_steps.run_id,
                next_steps.prepared,
                sealer=sealer,
            )
        )
    parts += [run_rows.pending(steps[index], prefix) for index in next_steps.pending]
    if next_steps.retry is not None:
        parts.append(next_steps.retry)
    return parts


def _insist(name: str, params: dict[str, Any]) -> tuple[Any, ...] | None:
    return _twice(partial(statements.fetch_one, name, params))


def _twice(record: Callable[[], T]) -> T:
    """Return the result of `record`; outside a transaction, retry once after a lost connection.

    The fence makes the retry safe: a recorded result is not recorded again.
    """
    try:
        return record()
    except (OperationalError, InterfaceError):
        if connection.in_atomic_block:
            raise
        connection.close()
        return record()


def publish(state: SegmentState, next_steps: NextSteps) -> None:
    """Send the pending steps to workers after the commit, except those that a chain will send."""
    steps = state.graph.steps
    ready = [
        index for index in next_steps.pending if state.path(steps[index]) not in state.context.links
    ]
    if ready:
        messages.publish_after_commit(
            [
                messages.parcel(
                    state.context.execution_id,
                    state.context.version.id,
                    state.context.priority,
                    state.place,
                    ready,
                )
            ]
        )


def renew_connection() -> None:
    """Replace a connection that broke while the step ran; the check costs one query."""
    if not connection.in_atomic_block and connection.connection and not connection.is_usable():
        connection.close()


def retry_row(state: SegmentState, work: Work, delay: float, details: Any = None) -> str:
    """Return the row of the failed step's next attempt, due in `delay` seconds, with `details`."""
    return run_rows.pending(
        work.step,
        state.prefix,
        segment=state.segment,
        attempt=work.attempt + 1,
        budget=work.budget,
        delay=delay,
        overrides=payloads.trusted(work.overrides),
        details=details,
        sealer=state.context.sealer,
    )


def _error_details(state: SegmentState, work: Work, failure: Failure | None) -> str | None:
    if failure is None:
        return None
    told = {
        "exception": failure.exception,
        "traceback": failure.traceback,
        "details": failure.details,
    }
    names = {"fingerprint": failure.fingerprint, "target": failure.target}
    text = payloads.dump(told | {name: text for name, text in names.items() if text}, "error")
    return state.context.sealer.json(text, "error_details", work.path)
