"""Move live executions to another version of their workflow."""

from executions.definition.graph.version_change import (
    Judgement,
    ReachedStep,
    VersionPair,
    judge,
    name_problems,
)
from runners.repair.version_changes import (
    CannotMove,
    NotOnVersion,
    StepRunning,
    VersionMove,
    move_execution,
    reached,
)

__all__ = [
    "CannotMove",
    "Judgement",
    "NotOnVersion",
    "ReachedStep",
    "StepRunning",
    "VersionMove",
    "VersionPair",
    "judge",
    "move_execution",
    "name_problems",
    "reached",
]
