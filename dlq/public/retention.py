"""Keep executions and dead letters from being deleted; delete rows of a plugin's own."""

from dlq.retention.by_age import Aged, add_kind
from dlq.retention.dead_letters import HOLDS, LetterHold
from dlq.retention.executions import HORIZONS

__all__ = [
    "HOLDS",
    "HORIZONS",
    "Aged",
    "LetterHold",
    "add_kind",
]
