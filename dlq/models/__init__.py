"""The tables of this app."""

from dlq.models.entry import DeadLetterEntry, FailureType, Resolution

__all__ = ["DeadLetterEntry", "FailureType", "Resolution"]
