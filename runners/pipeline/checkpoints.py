"""Automatic checkpoints, taken in transactions that hold the execution's lock.

Without the lock, steps are only counted in memory; the worker's next locked transaction takes the
checkpoint if it is due. A plugin stores checkpoints; without the plugin, no checkpoint is due.
"""

from executions.definition.graph.model import CheckpointPolicy, due
from executions.definition.graph.places import UNDO
from runners.ports import take_checkpoint
from runners.segment.state import SegmentState
from runners.segment.work import Unit, Work


def note(state: SegmentState, unit: Unit) -> None:
    """Count the steps of a recorded unit, if checkpoints are enabled."""
    policy = _policy(state)
    if policy is None or not policy.enabled:
        return
    passed = state.passed
    for done in (unit.head, *unit.more):
        if done is not None:
            passed.steps += 1
            passed.gate = passed.gate or bool(done.step.outcomes)


def wants_lock(state: SegmentState, work: Work, unit: Unit) -> bool:
    """Return whether to take the lock for a checkpoint: only after a woken step with outcomes.

    An approval is such a step. After other steps with outcomes, the checkpoint is taken with the
    next step that is recorded under the lock.
    """
    if work.wake is None:
        return False
    policy = _policy(state)
    return (
        policy is not None
        and policy.enabled
        and policy.on_gate
        and unit.head is not None
        and bool(unit.head.step.outcomes)
    )


def after_step(state: SegmentState, work: Work, unit: Unit) -> None:
    """Take a checkpoint if one is due; the caller holds the execution's lock.

    Call this function while the execution continues, not at its end. The checkpoint is named after
    the last step that was recorded or suspended.
    """
    policy = None if state.prefix.endswith(UNDO) else _policy(state)
    passed = state.passed
    if policy is not None and due(policy, passed):
        last = unit.more[-1] if unit.more else None
        path = work.path if last is None else last.place.prefix + last.step.path
        take_checkpoint(state.context.execution_id, policy.keep, path)
        passed.steps, passed.gate, passed.turn = 0, False, False


def _policy(state: SegmentState) -> CheckpointPolicy | None:
    """Return the workflow's checkpoint settings; None if no plugin stores checkpoints."""
    return state.context.version.graph.checkpoint if take_checkpoint.provided else None
