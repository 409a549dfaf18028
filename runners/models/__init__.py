"""The tables of this app."""

from runners.models.approval import Approval
from runners.models.cached import CachedResult
from runners.models.early_callback import EarlyCallback
from runners.models.run import Run
from runners.models.runner import Runner
from runners.models.waiter import Waiter

__all__ = [
    "Approval",
    "CachedResult",
    "EarlyCallback",
    "Run",
    "Runner",
    "Waiter",
]
