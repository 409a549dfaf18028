"""The tables of this app."""

from runners.models.approval import Approval
from runners.models.cached import CachedResult
from runners.models.circuit import CircuitBreaker, CircuitRule
from runners.models.early_callback import EarlyCallback
from runners.models.run import Run
from runners.models.runner import Runner
from runners.models.spending import Budget, BudgetUse, CostEntry
from runners.models.waiter import Waiter

__all__ = [
    "Approval",
    "Budget",
    "BudgetUse",
    "CachedResult",
    "CircuitBreaker",
    "CircuitRule",
    "CostEntry",
    "EarlyCallback",
    "Run",
    "Runner",
    "Waiter",
]
