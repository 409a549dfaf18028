"""Checkpoints that the engine takes by itself, in transactions that hold the execution's lock.

Without the lock steps are only counted, in memory; the next locked transaction of the same worker
takes the checkpoint.
"""

from executions.history.checkpoints import take
from executions.history.due import due
from runners.segment.state import SegmentState
from runners.segment.work import Unit, Work


def note(state: SegmentState, unit: Unit) -> None:
    """Count what was recorded, wherever it was recorded."""
    policy = state.context.version.graph.checkpoint
    if policy is None or not policy.enabled:
        return
    passed = state.passed
    for done in (unit.head, *unit.more):
        if done is not None:
            passed.steps += 1
            passed.gate = passed.gate or bool(done.step.outcomes)


def wants_lock(state: SegmentState, work: Work, unit: Unit) -> bool:
    """Whether a checkpoint is worth taking the lock: after somebody decided, at a gate that waited.

    Gates that decide by themselves are checkpointed with the next locked step.
    """
    policy = state.context.version.graph.checkpoint
    return (
        work.wake is not None
        and policy is not None
        and policy.enabled
        and policy.on_gate
        and unit.head is not None
        and bool(unit.head.step.outcomes)
    )


def after_step(state: SegmentState, work: Work, unit: Unit) -> None:
    """Take a checkpoint if one is due after what was noted; the caller holds the execution's lock.

    Call it where the execution goes on: at its end there is nothing to go back to. The checkpoint
    is named after the last step that was recorded, or fell asleep.
    """
    policy = state.context.version.graph.checkpoint
    passed = state.passed
    if policy is not None and due(policy, passed):
        last = unit.more[-1] if unit.more else None
        path = work.path if last is None else last.place.prefix + last.step.path
        take(state.context.execution_id, keep=policy.keep, step_path=path)
        passed.steps, passed.gate, passed.turn = 0, False, False
