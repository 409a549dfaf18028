"""Signals for the events of executions."""

from executions.events import (
    execution_admitted,
    execution_ended,
    execution_failed,
    execution_finished,
    execution_rolled_back,
    executions_asked,
    executions_started,
)

__all__ = [
    "execution_admitted",
    "execution_ended",
    "execution_failed",
    "execution_finished",
    "execution_rolled_back",
    "executions_asked",
    "executions_started",
]
