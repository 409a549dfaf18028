"""The tables of runs, and their states."""

from runners.models import Run, Runner, Waiter
from runners.states import LIVE, RunState, WaitKind

__all__ = [
    "LIVE",
    "Run",
    "RunState",
    "Runner",
    "WaitKind",
    "Waiter",
]
