"""When the engine takes a checkpoint by itself: pure."""

from dataclasses import dataclass

from executions.definition.graph.model import CheckpointPolicy


@dataclass(slots=True)
class Passed:
    """What was recorded since the last checkpoint, as far as one worker knows."""

    steps: int = 0
    gate: bool = False
    turn: bool = False  # stands before a loop's body, or an iteration of it ended


def due(policy: CheckpointPolicy | None, passed: Passed) -> bool:
    """Whether a checkpoint is to be taken now."""
    if policy is None or not policy.enabled:
        return False
    return (
        passed.steps >= policy.every_steps
        or (passed.gate and policy.on_gate)
        or (passed.turn and policy.on_loop)
    )
