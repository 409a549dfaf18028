"""The tables of this app."""

from runners.models.cached import CachedResult
from runners.models.run import Run
from runners.models.runner import Runner
from runners.models.waiter import Waiter

__all__ = ["CachedResult", "Run", "Runner", "Waiter"]
