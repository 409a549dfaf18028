"""Compare a dead letter with the last successful run of its step."""

from dlq.comparing.difference import Comparison, compare
from dlq.comparing.reference_runs import Search, last_good
from dlq.comparing.suspects import Suspect, suspects

__all__ = [
    "Comparison",
    "Search",
    "Suspect",
    "compare",
    "last_good",
    "suspects",
]
