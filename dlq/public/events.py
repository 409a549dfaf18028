"""Signals that tell what happened."""

from dlq.events import group_new, group_regressed, redrive_stopped

__all__ = [
    "group_new",
    "group_regressed",
    "redrive_stopped",
]
