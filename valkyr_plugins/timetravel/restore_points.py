"""Find a point in an execution's past, and the point's runs, in the rows of runs and checkpoints.

Variables need no checkpoint: they follow from the outputs of the steps that wrote them, in order.
"""

from typing import Any
from uuid import UUID

from django.db.models import Q

from executions.public.definitions import catalog
from executions.public.errors import NotFound, ValkyrError, WrongState
from executions.public.graphs import compiled
from executions.public.models import WorkflowExecution
from executions.public.sealing import opened
from runners.public.models import Run
from valkyr_plugins.timetravel import statements
from valkyr_plugins.timetravel.models import Checkpoint
from valkyr_plugins.timetravel.point_in_time import Point, holders, written

DONE = Q(state__in=["SUCCESS", "SKIPPED"]) | Q(state="FAILED", outcome="error")
MAX_NAMED = 10
UNNAMED = "Ask a user who may view the execution for the paths of its steps."


class NoSuchPoint(ValkyrError):
    """There is no such point in this execution."""

    code = "no_such_point"


def at_checkpoint(execution: WorkflowExecution, checkpoint_id: UUID) -> Point:
    """Return the point of a checkpoint.

    Raises NotFound, and WrongState if the execution was rolled back past the checkpoint.
    """
    checkpoint = Checkpoint.objects.filter(pk=checkpoint_id, execution_id=execution.pk).first()
    if checkpoint is None:
        raise NotFound(f"Execution {execution.pk} has no checkpoint {checkpoint_id}.")
    if checkpoint.epoch != execution.epoch:
        raise WrongState(
            f"Checkpoint {checkpoint_id} is from before a roll-back (epoch {checkpoint.epoch}, now "
            f"{execution.epoch}). Choose a checkpoint of the current epoch.",
            execution.state,
        )
    return Point(checkpoint.created_at, f"checkpoint #{checkpoint.sequence}")


def after_step(execution: WorkflowExecution, step_path: str, *, named: bool = True) -> Point:
    """Return the point right after a step succeeded, was skipped or followed an error edge.

    Raises NoSuchPoint for any other step. `named` says whether the error may name other steps.
    """
    run = (
        _runs(execution, step_path)
        .filter(DONE)
        .order_by("-finished_at", "-id")
        .only("id", "finished_at")
        .first()
    )
    if run is None:
        raise NoSuchPoint(
            f"Step {step_path} of execution {execution.pk} did not succeed and was not "
            "skipped, so you cannot go back to it. "
            f"{_some(execution, DONE) if named else UNNAMED}"
        )
    assert run.finished_at is not None
    return Point(run.finished_at, step_path, run.pk)


def before_step(execution: WorkflowExecution, step_path: str, *, named: bool = True) -> Point:
    """Return the point right before a step first began. Raises NoSuchPoint if it has no run.

    `named` says whether the error may name other steps.
    """
    first = _runs(execution, step_path).order_by("attempt").only("started_at", "queued_at").first()
    if first is None:
        raise NoSuchPoint(
            f"Execution {execution.pk} has no run of step {step_path}. "
            f"{_some(execution, ~Q(state='SKIPPED')) if named else UNNAMED}"
        )
    return Point(first.started_at or first.queued_at, f"before {step_path}", before=step_path)


def around(execution: WorkflowExecution, point: Point) -> list[str]:
    """Return the step paths of the containers around the runs that belong to the point."""
    found = statements.fetch("iterations_of_point", params(execution, point))
    return holders(prefix for (prefix,) in found)


def params(execution: WorkflowExecution, point: Point) -> dict[str, Any]:
    """Return the parameters that describe a point in statements."""
    return {
        "execution": execution.pk,
        "epoch": execution.epoch,
        "at": point.at,
        "last": point.last,
        "before": point.before,
    }


def variables_at(execution: WorkflowExecution, point: Point) -> dict[str, Any]:
    """Return the variables at the point, from the last checkpoint before it and later writes.

    Without such a checkpoint, the writes are applied to the workflow's defaults.
    """
    graph = compiled(execution.version_id).graph
    checkpoint = (
        Checkpoint.objects.filter(
            execution_id=execution.pk, epoch=execution.epoch, created_at__lte=point.at
        )
        .order_by("-sequence")
        .first()
    )
    # Start with the defaults, because the execution may have been moved to this version after the
    # checkpoint.
    base = dict(graph.variables) | ({} if checkpoint is None else checkpoint.variables)
    if not graph.variables:
        return base
    writes = Run.objects.filter(
        Q(finished_at__lt=point.at) | Q(finished_at=point.at, id__lte=point.last),
        execution_id=execution.pk,
        epoch=execution.epoch,
        superseded=False,
        state="SUCCESS",
        module__in=writers(),
    ).exclude(step_path=point.before)
    if checkpoint is not None:
        writes = writes.filter(finished_at__gt=checkpoint.created_at)
    found = writes.order_by("finished_at", "id").values_list("step_path", "outputs")
    outputs = (opened(execution.pk, value, "outputs", path) for path, value in found.iterator())
    return written(base, outputs, graph.variables.keys())


def writers() -> list[str]:
    """Return the modules that write variables.

    The result does not depend on the steps of one version, because a moved execution has results of
    another version's steps.
    """
    return [name for name, spec in catalog().items() if spec.writes_variables]


def _runs(execution: WorkflowExecution, step_path: str) -> Any:
    return Run.objects.filter(
        execution_id=execution.pk, epoch=execution.epoch, step_path=step_path, superseded=False
    )


def _some(execution: WorkflowExecution, which: Q) -> str:
    """Return a sentence that names some existing steps."""
    paths = (
        Run.objects.filter(which, execution_id=execution.pk, superseded=False)
        .order_by("-queued_at", "-id")
        .values_list("step_path", flat=True)[: MAX_NAMED + 1]
    )
    known = list(dict.fromkeys(paths))
    if not known:
        return "No step can be named yet."
    more = ", and others" if len(known) > MAX_NAMED else ""
    return f"There are: {', '.join(known[:MAX_NAMED])}{more}."
