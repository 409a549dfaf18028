"""The tables of dead letters, and their states."""

from dlq.models import (
    DeadLetterEntry,
    FailureGroup,
    GroupHour,
    GroupStatus,
    Redrive,
    RedriveState,
    Resolution,
)

__all__ = [
    "DeadLetterEntry",
    "FailureGroup",
    "GroupHour",
    "GroupStatus",
    "Redrive",
    "RedriveState",
    "Resolution",
]
