"""The tables of runs, and their states."""

from runners.models import Budget, CircuitBreaker, Run, Runner
from runners.states import CircuitState, RunState

__all__ = [
    "Budget",
    "CircuitBreaker",
    "CircuitState",
    "Run",
    "RunState",
    "Runner",
]
