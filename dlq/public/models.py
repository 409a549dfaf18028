"""The tables of dead letters, and their states."""

from dlq.models import (
    DeadLetterEntry,
    FailureGroup,
    GroupHour,
    GroupStatus,
    GroupVersion,
    Resolution,
)

__all__ = [
    "DeadLetterEntry",
    "FailureGroup",
    "GroupHour",
    "GroupStatus",
    "GroupVersion",
    "Resolution",
]
