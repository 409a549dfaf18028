"""Extend the pages of dead letters and failure groups."""

from dlq.admin.additions import GROUP_LINKS, GROUP_SECTIONS, GroupLink, add_entry_action
from dlq.admin.entry import DeadLetterEntryAdmin

__all__ = [
    "GROUP_LINKS",
    "GROUP_SECTIONS",
    "DeadLetterEntryAdmin",
    "GroupLink",
    "add_entry_action",
]
