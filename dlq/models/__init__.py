"""The tables of the app `dlq`."""

from dlq.models.beat import BeatPulse, RetentionMark
from dlq.models.entry import DeadLetterEntry, FailureType, Resolution
from dlq.models.group import (
    FailureGroup,
    GroupFingerprint,
    GroupHour,
    GroupMove,
    GroupNews,
    GroupNote,
    GroupVersion,
)
from dlq.models.view import SavedView
from dlq.states import GroupStatus

__all__ = [
    "BeatPulse",
    "DeadLetterEntry",
    "FailureGroup",
    "FailureType",
    "GroupFingerprint",
    "GroupHour",
    "GroupMove",
    "GroupNews",
    "GroupNote",
    "GroupStatus",
    "GroupVersion",
    "Resolution",
    "RetentionMark",
    "SavedView",
]
