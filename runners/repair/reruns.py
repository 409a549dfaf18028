"""Reruns of permanently failed steps, as requested by users: one step, or many at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions import payloads
from executions.definition.graph.places import find
from executions.definition.versions import compiled
from executions.errors import WrongState
from executions.models import WorkflowExecution
from executions.payloads import is_reference
from executions.sealing.sealer import opened
from runners import statements
from runners.dispatch import messages
from runners.dispatch.canvas import Chain, Parcel, link
from runners.models import Run
from runners.repair import changed_inputs
from runners.segment import run_rows
from runners.segment.inputs import combine, one_after_other, patches_of
from runners.segment.state import SegmentState, from_rows


@dataclass(frozen=True, slots=True)
class Rerun:
    """A dead run's next attempt: its new ID, its locked execution and its priority.

    With `new_key`, the step gets another idempotency key.
    """

    run_id: UUID
    dead_run_id: UUID
    execution_id: UUID
    version_id: UUID
    epoch: int
    priority: int
    overrides: Any = None
    new_key: bool = False


@dataclass(frozen=True, slots=True)
class _Dead:
    """The data of a dead run that its next attempt needs."""

    step_path: str
    attempt: int
    overrides: Any


def again(
    execution: WorkflowExecution,
    dead_run_id: UUID,
    *,
    run_id: UUID,
    overrides: Any,
    new_key: bool,
    priority: int | None = None,
) -> None:
    """Insert the next attempt of a dead run's step, pending, with a new retry budget.

    The caller holds the execution's lock, and sends the run. By default, the run has the
    execution's priority. `overrides` may be the reference to stored changes. Raises WrongState if
    the run is not the step's newest, is not dead, or precedes a roll-back.
    """
    dead = newest_dead(execution, dead_run_id)
    rerun = Rerun(
        run_id=run_id,
        dead_run_id=dead_run_id,
        execution_id=execution.pk,
        version_id=execution.version_id,
        epoch=execution.epoch,
        priority=execution.priority if priority is None else priority,
        overrides=overrides,
        new_key=new_key,
    )
    state, part = _row(rerun, _Dead(dead.step_path, dead.attempt, dead.overrides))
    if not run_rows.insert(state, [part]):
        raise WrongState(
            f"Step {dead.step_path} already has a live or successful run. Nothing was changed.",
            dead.state,
        )
    changed_inputs.keep([(execution.pk, overrides)])


def again_many(reruns: Sequence[Rerun]) -> set[UUID]:
    """Insert the next attempts of many dead runs in one statement; return the IDs of the new runs.

    The runs are sent after the commit. The caller holds the executions' locks. A dead run that
    cannot have another attempt is omitted.

    No execution is planned: a FAILED execution had no steps left to start, and a live execution is
    planned when its steps end.
    """
    dead = newest_dead_of(
        [rerun.dead_run_id for rerun in reruns], [rerun.execution_id for rerun in reruns]
    )
    texts: list[str] = []
    parcels: dict[UUID, Parcel] = {}
    for rerun in reruns:
        if rerun.dead_run_id in dead:
            state, part = _row(rerun, dead[rerun.dead_run_id])
            texts += run_rows.owned(state, [part])
            parcels[rerun.run_id] = _parcel(rerun, state)
    added = run_rows.insert_all(texts, [rerun.execution_id for rerun in reruns])
    inserted = [rerun for rerun in reruns if rerun.run_id in added]
    changed_inputs.keep([(rerun.execution_id, rerun.overrides) for rerun in inserted])
    messages.publish_after_commit([item for pk, item in parcels.items() if pk in added])
    return added


def newest_dead_of(run_ids: Sequence[UUID], execution_ids: Sequence[UUID]) -> dict[UUID, _Dead]:
    """Return those dead runs, keyed by ID, that are their steps' newest attempts.

    Uses one query. The two lists are parallel: the runs, and the execution of each run.
    """
    found = statements.fetch(
        "newest_dead", {"runs": list(run_ids), "executions": list(execution_ids)}
    )
    return {
        pk: _Dead(path, attempt, opened(execution_id, overrides, "overrides", path))
        for pk, execution_id, path, attempt, overrides in found
    }


def newest_dead(execution: WorkflowExecution, dead_run_id: UUID) -> Run:
    """Return the run. Raises WrongState unless it is dead and the newest attempt of its step."""
    dead = Run.objects.only(
        "id", "execution_id", "epoch", "step_path", "attempt", "state", "overrides", "superseded"
    ).get(pk=dead_run_id)
    newest = (
        Run.objects.filter(
            execution_id=execution.pk,
            epoch=execution.epoch,
            step_path=dead.step_path,
            superseded=False,
        )
        .order_by("-attempt")
        .values_list("pk", flat=True)
        .first()
    )
    if dead.state != "DLQ" or newest != dead.pk:
        raise WrongState(
            f"Run {dead.pk} of step {dead.step_path} is not the step's newest attempt. Nothing "
            "was changed.",
            dead.state,
        )
    return dead


def _row(rerun: Rerun, dead: _Dead) -> tuple[SegmentState, str]:
    version = compiled(rerun.version_id)
    place, step = find(version.graph, dead.step_path)
    state = from_rows(
        rerun.execution_id,
        version,
        rerun.epoch,
        rerun.priority,
        place=place,
        segment=dead.step_path,
    )
    attempt = dead.attempt + 1
    overrides = _overrides(dead.overrides, rerun.overrides, attempt, new_key=rerun.new_key)
    part = run_rows.pending(
        step,
        place.prefix,
        attempt=attempt,
        budget=attempt,
        overrides=overrides,
        run_id=rerun.run_id,
        sealer=state.context.sealer,
    )
    return state, part


def _parcel(rerun: Rerun, state: SegmentState) -> Parcel:
    _, step = find(state.context.version.graph, state.segment)
    canvas = Chain((link(state.place, step),))
    return Parcel(rerun.execution_id, rerun.version_id, rerun.priority, (canvas,))


def _overrides(before: Any, inputs: Any, attempt: int, *, new_key: bool) -> Any:
    """Return the overrides of the next run (merged inputs, and a salt for a new key), or None."""
    earlier = payloads.trusted(before) or {}
    out: dict[str, Any] = {}
    changes = _joined(earlier.get("inputs"), inputs)
    if changes:
        out["inputs"] = changes
    salt = str(attempt) if new_key else earlier.get("salt")
    if salt:
        out["salt"] = salt
    return out or None


def _joined(first: Any, second: Any) -> Any:
    """Return two changes in sequence as one patch, or as a list if they do not combine."""
    if not first or not second:
        return second or first
    *earlier, last = patches_of(first)
    if is_reference(last) or is_reference(second) or not combine(last, second):
        return [*earlier, last, second]
    joined = one_after_other(last, second)
    return [*earlier, joined] if earlier else joined
