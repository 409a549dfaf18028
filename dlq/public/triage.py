"""Extend the pages of dead letters and failure groups."""

from dlq.admin.additions import (
    GROUP_LINKS,
    GROUP_PROGRESS,
    GROUP_SECTIONS,
    GroupLink,
    GroupProgress,
    add_entry_action,
)
from dlq.admin.entry import DeadLetterEntryAdmin
from dlq.admin.groups import FailureGroupAdmin, add_group_action
from dlq.admin.triage_list import LISTS

__all__ = [
    "GROUP_LINKS",
    "GROUP_PROGRESS",
    "GROUP_SECTIONS",
    "LISTS",
    "DeadLetterEntryAdmin",
    "FailureGroupAdmin",
    "GroupLink",
    "GroupProgress",
    "add_entry_action",
    "add_group_action",
]
