"""The tables of the app `runners`."""

from runners.models.gates import HeldPermit
from runners.models.run import CachedResult, Run
from runners.models.runner import Runner
from runners.models.waits import Approval, EarlyCallback, Waiter

__all__ = [
    "Approval",
    "CachedResult",
    "EarlyCallback",
    "HeldPermit",
    "Run",
    "Runner",
    "Waiter",
]
