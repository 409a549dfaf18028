"""Checkpoints that the engine takes by itself, in transactions that hold the execution's lock.

Without the lock steps are only counted, in memory; the next locked transaction of the same worker
takes the checkpoint.
"""

from executions.history.checkpoints import take
from executions.history.due import due
from runners.journey import Journey
from runners.work import Unit


def note(journey: Journey, unit: Unit) -> None:
    """Count what was recorded, wherever it was recorded."""
    policy = journey.version.graph.checkpoint
    if policy is None or not policy.enabled:
        return
    passed = journey.passed
    for done in (unit.head, *unit.more):
        if done is not None:
            passed.steps += 1
            passed.gate = passed.gate or bool(done.step.outcomes)


def after_step(journey: Journey, path: str, *, turn: bool = False) -> None:
    """Take a checkpoint if one is due after what was noted; the caller holds the execution's lock.

    Call it last in the transaction: what is recorded after it does not belong to it. `path` is
    the step that was recorded; `turn` says that a loop's body is about to begin, or that an
    iteration of it ended.
    """
    policy = journey.version.graph.checkpoint
    passed = journey.passed
    passed.turn = passed.turn or turn
    if policy is not None and due(policy, passed):
        take(journey.execution_id, keep=policy.keep, step_path=path)
        passed.steps, passed.gate, passed.turn = 0, False, False
