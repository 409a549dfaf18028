"""The tables of dead letters, and their states."""

from dlq.models import (
    DeadLetterEntry,
    FailureGroup,
    GroupHour,
    GroupStatus,
    Resolution,
)

__all__ = [
    "DeadLetterEntry",
    "FailureGroup",
    "GroupHour",
    "GroupStatus",
    "Resolution",
]
