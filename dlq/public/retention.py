"""Keep executions and dead letters from being deleted; delete rows of a plugin's own."""

from dlq.retention.aged import Aged, add_kind
from dlq.retention.conf import days
from dlq.retention.evidence import HOLDS, LetterHold
from dlq.retention.families import HORIZONS

__all__ = [
    "HOLDS",
    "HORIZONS",
    "Aged",
    "LetterHold",
    "add_kind",
    "days",
]
