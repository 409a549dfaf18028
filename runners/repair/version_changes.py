"""Move a live execution to another version of its workflow, in one transaction.

Finished steps keep their results. Waiting steps keep their runs, and with them their timers,
approvals, callbacks and children. The execution's lock excludes planners. The runs' tokens
increase, which excludes workers that loaded a step of the old version. A step that a worker is
executing is not interrupted: the move is rejected until the step ends.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from executions import payloads
from executions.access.actor import Actor, record
from executions.admission import capacity
from executions.database import transaction
from executions.definition.graph.places import find
from executions.definition.graph.plan import StepFact, StepStatus
from executions.definition.graph.version_change import (
    Judgement,
    ReachedStep,
    VersionPair,
    judge,
    new_path,
    step_at,
)
from executions.definition.versions import Compiled, compiled
from executions.errors import InvalidPayload, NotFound, ValkyrError
from executions.models import WorkflowExecution
from executions.payload_store import StoredValueBroken
from executions.sealing import SealBroken
from executions.sealing.sealer import PayloadSealer
from executions.states import ExecutionState
from executions.triggers import stored_input
from executions.triggers.request import check_schema
from runners import statements
from runners.models import EarlyCallback, Run
from runners.planning import plan_execution
from runners.states import HELD, LIVE, RunState

MOVABLE = (ExecutionState.PENDING, ExecutionState.RUNNING, ExecutionState.PAUSED)
MOST_NAMED = 3


class CannotMove(ValkyrError):
    """The execution cannot move to the version; the message gives the reason."""

    code = "cannot_move"


class NotOnVersion(CannotMove):
    """The execution has ended, or is not on the move's source version."""

    code = "not_on_version"


class StepRunning(CannotMove):
    """A step of the execution is running or due; the move may be possible when the step ends."""

    code = "step_running"


@dataclass(frozen=True, slots=True)
class VersionMove:
    """The version that executions leave, the version to which they move, and the renamed tasks."""

    source_id: UUID
    target_id: UUID
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def source(self) -> Compiled:
        """Return the compiled version that the execution leaves."""
        return compiled(self.source_id)

    @property
    def target(self) -> Compiled:
        """Return the compiled version to which the execution moves."""
        return compiled(self.target_id)

    @property
    def change(self) -> VersionPair:
        """Return the graphs of both versions, to decide whether the executions can move."""
        target = self.target
        return VersionPair(self.source.graph, target.graph, target.number, self.names)


class _ReachedRun(NamedTuple):
    """A row of `reached_steps.sql`."""

    execution_id: UUID
    step_path: str
    state: str
    outcome: str
    module: str
    waits_for: str
    lease_token: int
    attempt: int
    id: UUID
    segment: str


def reached(execution_ids: Sequence[UUID]) -> dict[UUID, list[ReachedStep]]:
    """Return the steps that each execution has reached. Uses one query and no locks."""
    found: dict[UUID, list[ReachedStep]] = defaultdict(list)
    for run in _runs(execution_ids):
        found[run.execution_id].append(_step(run))
    return {pk: _counting(found[pk]) for pk in execution_ids}


def move_execution(
    execution_id: UUID, move: VersionMove, *, actor: Actor, reason: str = ""
) -> Judgement:
    """Move a live execution to another version, and continue it there.

    A payload in the payload store is loaded before the transaction. Raises NotFound for an unknown
    execution. Raises StepRunning while a worker executes a step, or while a step is due and the
    execution does not fit the version. Raises NotOnVersion if the execution has ended or left the
    source version, and CannotMove if its steps or its payload do not fit the version.
    """
    payload = _payload_to_check(execution_id, move)
    with transaction.atomic():
        execution = _locked(execution_id, move)
        statements.fetch("lock_live", {"execution": execution_id})
        runs = _runs([execution_id])
        found = judge(move.change, _counting([_step(run) for run in runs]))
        _refuse(found)
        _check_payload(payload, move)
        if move.names:
            _rename(execution, move)
        _write(execution, move, runs)
        record(
            actor,
            "execution.migrate",
            workspace_id=execution.workspace_id,
            object_type="WorkflowExecution",
            object_id=execution_id,
            reason=reason,
            before={"version": move.source.number},
            after={"version": move.target.number},
            details={"at": list(found.at)[:100], "names": dict(move.names)},
        )
        if execution.state != ExecutionState.PENDING:
            if found.starts:
                capacity.request_slot([execution_id])
            plan_execution.wake(execution_id)
    return found


def _runs(execution_ids: Sequence[UUID]) -> list[_ReachedRun]:
    rows = statements.fetch("reached_steps", {"executions": list(execution_ids)})
    return [_ReachedRun(*row) for row in rows]


def _step(run: _ReachedRun) -> ReachedStep:
    began = bool(run.waits_for) or run.lease_token > 0 or run.attempt > 1
    return ReachedStep(
        run.step_path,
        _fact(run.state, run.outcome),
        run.module,
        held=run.state in HELD,
        due=run.state == RunState.PENDING,
        bound=run.state != RunState.PENDING or began,
    )


def _fact(state: str, outcome: str) -> StepFact:
    if state in LIVE:
        return StepFact(StepStatus.LIVE)
    if state == RunState.SUCCESS:
        return StepFact(StepStatus.DONE, outcome)
    if state == RunState.SKIPPED:
        return StepFact(StepStatus.SKIPPED)
    return StepFact(StepStatus.DEAD if state == RunState.DLQ else StepStatus.FAILED_OVER)


def _counting(steps: Sequence[ReachedStep]) -> list[ReachedStep]:
    """Return one entry per step, from a run that has not failed if there is one."""
    found: dict[str, ReachedStep] = {}
    for step in steps:
        failed = step.fact.status in (StepStatus.DEAD, StepStatus.FAILED_OVER)
        if not failed or step.path not in found:
            found[step.path] = step
    return list(found.values())


def _locked(execution_id: UUID, move: VersionMove) -> WorkflowExecution:
    rows = WorkflowExecution.objects.select_for_update(no_key=True)
    execution = (
        rows.only(
            "id", "workspace_id", "version_id", "state", "compensation", "priority", "epoch",
        )
        .filter(pk=execution_id)
        .first()
    )  # fmt: skip
    if execution is None:
        raise NotFound(f"There is no execution {execution_id}.")
    if execution.state not in MOVABLE:
        raise NotOnVersion(
            f"The execution is {execution.state}; only one that is PENDING, RUNNING or PAUSED can "
            "move."
        )
    if execution.version_id != move.source_id:
        number = compiled(execution.version_id).number
        raise NotOnVersion(
            f"The execution is on version {number}, not on version {move.source.number}."
        )
    if execution.compensation:
        raise CannotMove("The execution's steps are being undone; it ends on its own version.")
    return execution


def _refuse(found: Judgement) -> None:
    reasons = " ".join(found.problems[:MOST_NAMED])
    if found.busy:
        names = ", ".join(f"`{name}`" for name in found.busy[:MOST_NAMED])
        more = ", and others" if len(found.busy) > MOST_NAMED else ""
        if len(found.busy) == 1:
            now, ended = f"Step {names} is running or due.", "this step has ended"
        else:
            now, ended = f"These steps are running or due: {names}{more}.", "these steps have ended"
        again = f"{now} The execution may be able to move when {ended}."
        raise StepRunning(f"{reasons} {again}".lstrip())
    if found.problems:
        raise CannotMove(reasons)


def _payload_to_check(execution_id: UUID, move: VersionMove) -> Any:
    """Return the payload if it must be checked, else None. Raises NotFound or CannotMove."""
    if move.target.input_schema in (None, move.source.input_schema):
        return None
    row = WorkflowExecution.objects.only("workspace_id", "trigger_payload").filter(pk=execution_id)
    execution = row.first()
    if execution is None:
        raise NotFound(f"There is no execution {execution_id}.")
    try:
        return stored_input.from_row(execution.workspace_id, execution.trigger_payload)
    except StoredValueBroken as error:
        raise CannotMove(f"Its input cannot be read: {error}") from error
    except SealBroken as error:
        raise CannotMove(f"Its input cannot be opened: {error}") from error


def _check_payload(payload: Any, move: VersionMove) -> None:
    """Raise CannotMove if the payload does not match the new version's input schema."""
    if move.target.input_schema in (None, move.source.input_schema):
        return
    try:
        check_schema(move.target, payload, "input")
    except InvalidPayload as error:
        named = "; ".join(f"{one.path}: {one.message}" for one in error.problems[:MOST_NAMED])
        raise CannotMove(
            f"Its input does not match the input schema of version {move.target.number}: {named}"
        ) from error


def _write(execution: WorkflowExecution, move: VersionMove, runs: Sequence[_ReachedRun]) -> None:
    """Set the execution's new version, and fence its live runs."""
    graph = move.target.graph
    steps: dict[str, tuple[str, str, str]] = {}
    for run in runs:
        if run.state in LIVE:
            path = new_path(run.step_path, move.names)
            _, step = find(graph, path)
            segment = new_path(run.segment, move.names)
            # If the segment's first step was removed, the segment now begins with this run's step.
            begins = segment if step_at(graph, segment) else path
            steps[str(run.id)] = (step.queue, step.module, begins)
    sealer = PayloadSealer(execution.pk, execution.workspace_id)
    defaults = payloads.dump(dict(graph.variables), "variables")
    moved = statements.fetch(
        "move_version",
        {
            "execution": execution.pk,
            "source": move.source_id,
            "target": move.target_id,
            "defaults": sealer.each(defaults, "context_data"),
            "steps": json.dumps(steps),
        },
    )
    assert moved == [(len(steps),)], "the execution and its live runs are locked"


def _rename(execution: WorkflowExecution, move: VersionMove) -> None:
    """Give the runs of renamed tasks their new paths, and seal their payloads for these paths."""
    graph = move.target.graph
    for run in Run.objects.filter(execution_id=execution.pk).iterator(chunk_size=200):
        path, segment = new_path(run.step_path, move.names), new_path(run.segment, move.names)
        if path == run.step_path and segment == run.segment:
            continue
        run.segment = segment
        found = None if path == run.step_path else step_at(graph, path)
        if found is None:  # not renamed, or an ended step that the new version does not have
            run.save(update_fields=["segment"])
            continue
        _, step = found
        _open(run)
        run.step_path, run.task_id, run.module_id = path, step.task_uuid, step.module_uuid
        run.save()
    for early in EarlyCallback.objects.filter(execution_id=execution.pk):
        path = new_path(early.step_path, move.names)
        if path != early.step_path:
            _open(early)
            early.step_path = path
            early.save()


def _open(row: Run | EarlyCallback) -> None:
    """Open the sealed columns before the path changes, because the envelopes name the old path."""
    for column in row._meta.concrete_fields:
        getattr(row, column.attname)
