"""Signals for events, and whether they still apply."""

from dlq.events import (
    StoppedRedrive,
    group_new,
    group_regressed,
    groups_merged,
    redrive_stopped,
)
from dlq.ports import stopped_redrives

__all__ = [
    "StoppedRedrive",
    "group_new",
    "group_regressed",
    "groups_merged",
    "redrive_stopped",
    "stopped_redrives",
]
