"""The signals of this app, and a check of whether a stopped redrive still needs attention."""

from dlq.events import (
    StoppedRedrive,
    group_new,
    group_regressed,
    groups_merging,
    redrive_stopped,
)
from dlq.ports import stopped_redrives

__all__ = [
    "StoppedRedrive",
    "group_new",
    "group_regressed",
    "groups_merging",
    "redrive_stopped",
    "stopped_redrives",
]
