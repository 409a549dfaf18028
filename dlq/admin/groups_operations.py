"""What a person may do to failure groups: each through the one writer of what it changes."""

from typing import Any

from dlq.admin.groups_forms import (
    AssignForm,
    MergeForm,
    NoteForm,
    ResolveForm,
    SnoozeForm,
    SplitForm,
)
from dlq.groups import operations
from executions.admin import links
from executions.admin.operations import AdminOperation


def _merged_into(result: Any) -> str:
    return links.page("dlq_failuregroup", result.pk)


OPERATIONS = (
    AdminOperation(
        operations.ACKNOWLEDGE,
        title="Acknowledge…",
        icon="visibility",
        done="acknowledged",
        question="Says that somebody has seen it and takes care.",
        primary=True,
    ),
    AdminOperation(
        operations.ASSIGN,
        title="Assign…",
        icon="person",
        done="assigned",
        question="Says whose it is.",
        form=AssignForm,
    ),
    AdminOperation(
        operations.NOTE,
        title="Note…",
        icon="edit_note",
        done="noted",
        question="Adds a line to its thread.",
        form=NoteForm,
    ),
    AdminOperation(
        operations.SNOOZE,
        title="Snooze…",
        icon="snooze",
        done="snoozed",
        question="Out of sight until a time, a count or a new version, whichever comes first.",
        form=SnoozeForm,
    ),
    AdminOperation(
        operations.RESOLVE,
        title="Resolve…",
        icon="check_circle",
        done="resolved",
        question="Says that it is mended. Its open dead letters stay open: redrive or discard "
        "them.",
        form=ResolveForm,
    ),
    AdminOperation(
        operations.IGNORE,
        title="Ignore…",
        icon="visibility_off",
        done="ignored",
        question="Nobody is told of it any more; it goes on being counted.",
    ),
    AdminOperation(
        operations.REOPEN,
        title="Reopen…",
        icon="undo",
        done="reopened",
        question="Takes it up again, as if it were new.",
    ),
    AdminOperation(
        operations.MUTE,
        title="Mute alerts…",
        icon="notifications_off",
        done="muted",
        question="Raises no alerts of it any more.",
    ),
    AdminOperation(
        operations.UNMUTE,
        title="Unmute alerts…",
        icon="notifications",
        done="unmuted",
        question="Raises alerts of it again.",
        bulk=False,
    ),
    AdminOperation(
        operations.MERGE,
        title="Merge into…",
        icon="merge",
        done="merged",
        question="Its failures, so far and from now on, become those of another group.",
        form=MergeForm,
        danger=True,
        destination=_merged_into,
    ),
    AdminOperation(
        operations.SPLIT,
        title="Split by…",
        icon="call_split",
        done="split",
        question="Tells its failures apart, so far and from now on: a group a value.",
        form=SplitForm,
        bulk=False,
    ),
)
