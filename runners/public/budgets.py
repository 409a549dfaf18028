"""What budgets hold, and what was spent."""

from runners.budgets.amounts import amount, plain
from runners.budgets.telling import SOFT
from runners.budgets.usage import uses_of

__all__ = [
    "SOFT",
    "amount",
    "plain",
    "uses_of",
]
