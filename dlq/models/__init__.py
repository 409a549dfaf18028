"""The tables of this app."""

from dlq.models.entry import DeadLetterEntry, FailureType, Resolution
from dlq.models.group import (
    FailureGroup,
    GroupFingerprint,
    GroupHour,
    GroupNews,
    GroupNote,
    GroupStatus,
    GroupVersion,
)
from dlq.models.redrive import ItemState, Redrive, RedriveItem, RedriveScope, RedriveState
from dlq.models.view import SavedView

__all__ = [
    "DeadLetterEntry",
    "FailureGroup",
    "FailureType",
    "GroupFingerprint",
    "GroupHour",
    "GroupNews",
    "GroupNote",
    "GroupStatus",
    "GroupVersion",
    "ItemState",
    "Redrive",
    "RedriveItem",
    "RedriveScope",
    "RedriveState",
    "Resolution",
    "SavedView",
]
