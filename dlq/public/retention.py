"""Protect executions and dead letters from deletion, and delete a plugin's own rows."""

from dlq.retention.by_age import Aged, add_kind
from dlq.retention.dead_letters import BEFORE_DELETION, HOLDS, LetterHold
from dlq.retention.executions import HORIZONS, PruningPosition, expired, horizon
from dlq.retention.periods import RetentionPeriods, as_set, older_than
from dlq.retention.pruning import read as read_mark
from dlq.retention.pruning import write as write_mark
from dlq.retention.unstored import UNSTORED

__all__ = [
    "BEFORE_DELETION",
    "HOLDS",
    "HORIZONS",
    "UNSTORED",
    "Aged",
    "LetterHold",
    "PruningPosition",
    "RetentionPeriods",
    "add_kind",
    "as_set",
    "expired",
    "horizon",
    "older_than",
    "read_mark",
    "write_mark",
]
