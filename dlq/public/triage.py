"""Extend the pages of dead letters and failure groups."""

from dlq.admin.additions import GROUP_LINKS, GROUP_SECTIONS, GroupLink, add_entry_action
from dlq.admin.entry import DeadLetterEntryAdmin
from dlq.admin.triage_list import LISTS

__all__ = [
    "GROUP_LINKS",
    "GROUP_SECTIONS",
    "LISTS",
    "DeadLetterEntryAdmin",
    "GroupLink",
    "add_entry_action",
]
