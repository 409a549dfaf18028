"""Protect executions and dead letters from deletion; delete a plugin's own rows."""

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
