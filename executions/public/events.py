"""Signals for the events of executions."""

from executions.events import (
    canary_ended,
    execution_admitted,
    execution_ended,
    execution_failed,
    execution_finished,
    execution_rolled_back,
    executions_asked,
    executions_started,
)

__all__ = [
    "canary_ended",
    "execution_admitted",
    "execution_ended",
    "execution_failed",
    "execution_finished",
    "execution_rolled_back",
    "executions_asked",
    "executions_started",
]
