"""Start an execution from a point of another execution, with copies of its runs and with changes.

The fork is admitted like every other execution, and planned from the runs that were copied into it.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q

from executions.public import payload_store
from executions.public.access import Actor, record
from executions.public.database import database_now, transaction, uuid7
from executions.public.definitions import DefinitionProblem
from executions.public.errors import Compensated, NotFound, NotPublished, WrongState
from executions.public.graphs import compiled, find
from executions.public.models import VersionKind, Workflow, WorkflowExecution, WorkflowVersion
from executions.public.sealing import ENVELOPE, SEALED, place, rebind, stored
from executions.public.starting import (
    Branch,
    StoredInput,
    from_row,
    start_execution,
)
from runners.public.forks import (
    LATEST,
    PINNED,
    ForkRequest,
    Overrides,
    merged_payload,
    with_stored_steps,
)
from runners.public.models import Run
from valkyr_plugins.timetravel import checkpoints, restore_points, statements
from valkyr_plugins.timetravel.fork_changes import (
    MAX_NAMED,
    InvalidFork,
    asked_again,
    changed_variables,
    override_steps,
)
from valkyr_plugins.timetravel.point_in_time import Point, retimed

__all__ = ["LATEST", "PINNED", "InvalidFork", "Overrides", "fork", "replay"]

# The columns of a run that a fork copies (`copy_runs_to_fork.sql`), besides its error.
COPIED = ("inputs", "outputs", "error_details")


def fork(  # noqa: PLR0913 - one door for all forks
    execution_id: UUID,
    *,
    checkpoint_id: UUID | None = None,
    step_path: str | None = None,
    version: str | int = PINNED,
    overrides: Overrides | None = None,
    actor: Actor,
    reason: str = "",
    priority: int | None = None,
    named: bool = True,
    payload: StoredInput | None = None,
) -> WorkflowExecution:
    """Start a new execution from a checkpoint, or from right before a step, which runs again.

    Without either, it starts from the beginning. If a step would run under an approval of the
    origin, the fork begins right before that approval, which is requested again. The origin can be
    in any state, and does not change. The fork inherits the trigger type, the labels, the priority
    unless given, and the version unless `version` is `latest` or a number. `named` says whether the
    caller may see the workflow, so that errors may name its steps and variables. `payload` is the
    changed payload, if the caller has stored it. The caller has checked the permissions (see
    `change_of`). Raises NotFound, NoSuchPoint, WrongState (the origin was rolled back),
    Compensated, NotPublished, InvalidFork, and the errors of `start_execution`.
    """
    overrides = overrides or Overrides()
    origin = WorkflowExecution.objects.select_related("workflow").filter(pk=execution_id).first()
    if origin is None:
        raise NotFound(f"There is no execution {execution_id}.")
    if (checkpoint_id is not None or step_path) and origin.compensation:
        raise Compensated(
            f"Execution {origin.pk} was undone or is being undone, so the effects of its steps no "
            "longer exist. Fork it from its start.",
            origin.state,
        )
    point = _point(origin, checkpoint_id, step_path, named=named)
    overrides = with_stored_steps(origin.workspace_id, overrides)
    beginning = _Beginning(origin, point, overrides, named)
    given: Any = payload
    if given is None and overrides.input is None:
        given = from_row(origin.workspace_id, origin.trigger_payload)
    elif given is None:
        given = merged_payload(origin.workspace_id, origin.trigger_payload, overrides.input)
    with transaction.atomic():
        started = start_execution(
            origin.workflow,
            given,
            actor=actor,
            trigger_type=origin.trigger_type,
            priority=origin.priority if priority is None else priority,
            reason=reason,
            branch=Branch(
                origin_id=origin.pk,
                version_id=_version(origin, version),
                point=point.label if point else "start",
                prepare=beginning.prepare,
                labels=origin.labels,
            ),
        ).execution
        record(
            actor,
            "execution.fork",
            workspace_id=origin.workspace_id,
            object_type="WorkflowExecution",
            object_id=origin.pk,
            reason=reason,
            details={
                "executionId": str(started.pk),
                "from": beginning.label,
                "version": version,
                "overrides": overrides.names(),
            },
        )
    return WorkflowExecution.objects.get(pk=started.pk)


def fork_as_asked(wanted: ForkRequest, actor: Actor) -> WorkflowExecution:
    """Start the fork that the engine requests (see `runners.repair.forks`)."""
    return fork(
        wanted.execution_id,
        step_path=wanted.step_path,
        version=wanted.version,
        overrides=wanted.overrides,
        actor=actor,
        reason=wanted.reason,
        priority=wanted.priority,
        payload=wanted.payload,
    )


def _point(
    origin: WorkflowExecution,
    checkpoint_id: UUID | None,
    step_path: str | None,
    *,
    named: bool,
) -> Point | None:
    if checkpoint_id is not None:
        return restore_points.at_checkpoint(origin, checkpoint_id)
    if step_path:
        return restore_points.before_step(origin, step_path, named=named)
    return None


def _version(origin: WorkflowExecution, wanted: str | int) -> UUID:
    if wanted == PINNED:
        return origin.version_id
    workflow: Workflow = origin.workflow
    if wanted == LATEST:
        if workflow.latest_version_id is None:
            raise NotPublished(f"Workflow {workflow.name!r} has no published version.")
        return workflow.latest_version_id
    found = (
        WorkflowVersion.objects.filter(workflow=workflow, number=wanted, kind=VersionKind.PUBLISHED)
        .values_list("pk", flat=True)
        .first()
    )
    if found is None:
        raise NotFound(f"Workflow {workflow.name!r} has no published version {wanted}.")
    return found


@dataclass(slots=True)
class _Beginning:
    """The point of the origin from which the fork starts, and its overrides.

    `prepare` moves the point back if a step would otherwise run under an earlier approval.
    """

    origin: WorkflowExecution
    point: Point | None
    overrides: Overrides
    named: bool

    @property
    def label(self) -> str:
        """Return a label for the fork's beginning, such as `before charge.main` or `start`."""
        return self.point.label if self.point else "start"

    def prepare(self, made: WorkflowExecution) -> None:
        """Copy runs and variables into the new execution, in the transaction that starts it."""
        version = compiled(made.version_id)
        variables = dict(version.graph.variables)
        if self.point is not None:
            _hold(self.origin)
            self.point = asked_again(self.origin, version, self.point)
            if made.version_id != self.origin.version_id:
                _require_steps(made, self.origin, self.point, named=self.named)
            variables |= payload_store.trusted(restore_points.variables_at(self.origin, self.point))
            _copy(made, self.origin, self.point)
        variables = changed_variables(made, variables, self.overrides.variables, named=self.named)
        WorkflowExecution.objects.filter(pk=made.pk).update(
            **stored(made, context_data=variables), origin_point=self.label
        )
        checkpoints.begin(made, variables)
        if self.overrides.steps:
            override_steps(made, self.overrides.steps, named=self.named)


def _copy(made: WorkflowExecution, origin: WorkflowExecution, point: Point) -> None:
    told = restore_points.params(origin, point) | {"around": restore_points.around(origin, point)}
    past = statements.fetch("runs_of_point", told)
    times = retimed([(begun, ended) for _, begun, ended in past], database_now())
    statements.fetch(
        "copy_runs_to_fork",
        {
            "fork": made.pk,
            "origin": origin.pk,
            "priority": made.priority,
            "known": [known for known, _, _ in past],
            "ids": [uuid7() for _ in past],
            "begun": [begun for begun, _ in times],
            "ended": [ended for _, ended in times],
        },
    )
    _rebind(made, origin)
    if payload_store.enabled():
        payload_store.share(origin.pk, made.pk)


def _rebind(made: WorkflowExecution, origin: WorkflowExecution) -> None:
    """Seal the copied payloads again for the fork, because the copies are bound to the origin."""
    sealed = Q(error__startswith=ENVELOPE)
    for column in COPIED:
        sealed |= Q(**{f"{column}__has_key": SEALED})
    rows = Run.objects.filter(sealed, execution_id=made.pk)
    for run in rows.only("id", "execution_id", "step_path", "error", *COPIED):
        run.execution = made
        places = {column: place(origin.pk, column, run.step_path) for column in ("error", *COPIED)}
        rebind(run, places)


def _hold(origin: WorkflowExecution) -> None:
    """Lock the origin against roll-backs and writes of variables while its past is copied.

    Raises WrongState if the origin was rolled back in the meantime.
    """
    epoch = (
        WorkflowExecution.objects.select_for_update(no_key=True)
        .values_list("epoch", flat=True)
        .get(pk=origin.pk)
    )
    if epoch != origin.epoch:
        raise WrongState(
            f"Execution {origin.pk} was rolled back in the meantime. Check its state, then fork "
            "it again.",
            origin.state,
        )


def _require_steps(
    made: WorkflowExecution, origin: WorkflowExecution, point: Point, *, named: bool
) -> None:
    """Raise InvalidFork if the version lacks a step that the fork would copy or begin with."""
    version = compiled(made.version_id)
    paths = [
        path for (path,) in statements.fetch("steps_of_point", restore_points.params(origin, point))
    ]
    if point.before:
        paths.append(point.before)
    missing = []
    for path in sorted(paths):
        try:
            find(version.graph, path)
        except KeyError:
            missing.append(path)
    if missing:
        raise InvalidFork(
            f"Version {version.number} lacks {len(missing)} of the steps that the fork would "
            "copy. Fork with the version that the execution ran, or from an earlier point.",
            [
                DefinitionProblem(
                    path, "missing_step", f"Version {version.number} has no step {path}."
                )
                for path in missing[: MAX_NAMED if named else 0]
            ],
        )


# Replay: start a new execution of the same version with the same input.


def replay(execution_id: UUID, *, actor: Actor, reason: str = "") -> WorkflowExecution:
    """Start an execution with the same version, payload, priority, labels and trigger type.

    Raises NotFound, and the errors of `start_execution`.
    """
    origin = WorkflowExecution.objects.select_related("workflow").filter(pk=execution_id).first()
    if origin is None:
        raise NotFound(f"There is no execution {execution_id}.")
    payload = from_row(origin.workspace_id, origin.trigger_payload)
    with transaction.atomic():
        made = start_execution(
            origin.workflow,
            payload,
            actor=actor,
            trigger_type=origin.trigger_type,
            priority=origin.priority,
            reason=reason,
            branch=Branch(origin_id=origin.pk, version_id=origin.version_id, labels=origin.labels),
        ).execution
        record(
            actor,
            "execution.replay",
            workspace_id=origin.workspace_id,
            object_type="WorkflowExecution",
            object_id=origin.pk,
            reason=reason,
            details={"executionId": str(made.pk)},
        )
    return WorkflowExecution.objects.get(pk=made.pk)
