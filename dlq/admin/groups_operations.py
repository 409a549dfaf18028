"""What a person may do to failure groups: each through the one writer of what it changes."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from dlq.admin.groups_forms import (
    AssignForm,
    MergeForm,
    NoteForm,
    ResolveForm,
    SnoozeForm,
    SplitForm,
)
from dlq.groups import joining, notes, rules, status
from dlq.models import FailureGroup, GroupStatus
from executions.access.actor import Actor
from executions.admin import links
from executions.admin.operations import Operation

Data = Mapping[str, Any]


def _refuse_unless(to: GroupStatus) -> Callable[[FailureGroup], str]:
    """Says why a group cannot become `to`, as the drawing of the moves has it."""

    def refuse(group: FailureGroup) -> str:
        if merged := _refuse_merged(group):
            return merged
        known = GroupStatus(group.status)
        if known is GroupStatus.REDRIVING:
            return "It is being redriven; wait for that to end, or abort it."
        return "" if to in rules.MOVES[known] else f"Nothing to do: this group is {known.label}."

    return refuse


def _refuse_merged(group: FailureGroup) -> str:
    return "It was merged into another group." if group.merged_into_id else ""


def _refuse_unless_muted(muted: bool) -> Callable[[FailureGroup], str]:
    word = "muted" if muted else "not muted"
    return lambda group: (
        _refuse_merged(group) or ("" if group.muted is not muted else f"It is {word} already.")
    )


def _snooze(pk: UUID, actor: Actor, data: Data) -> Any:
    total = None
    if data["more"] is not None:
        total = FailureGroup.objects.values_list("total", flat=True).get(pk=pk) + data["more"]
    return status.snooze(
        pk, until=data["until"], total=total, version=data["version"], actor=actor,
        reason=data["reason"],
    )  # fmt: skip


def _merge(pk: UUID, actor: Actor, data: Data) -> Any:
    return joining.merge(data["target"], [pk], actor=actor, reason=data["reason"])


def _merged_into(result: Any) -> str:
    return links.page("dlq_failuregroup", result.pk)


OPERATIONS = (
    Operation(
        name="acknowledge",
        title="Acknowledge…",
        icon="visibility",
        done="acknowledged",
        question="Says that somebody has seen it and takes care.",
        apply=lambda pk, actor, data: status.acknowledge(pk, actor=actor, reason=data["reason"]),
        refuse=_refuse_unless(GroupStatus.ACKNOWLEDGED),
        primary=True,
    ),
    Operation(
        name="assign",
        title="Assign…",
        icon="person",
        done="assigned",
        question="Says whose it is.",
        apply=lambda pk, actor, data: status.assign(
            pk, data["owner"], actor=actor, reason=data["reason"]
        ),
        refuse=_refuse_merged,
        form=AssignForm,
    ),
    Operation(
        name="note",
        title="Note…",
        icon="edit_note",
        done="noted",
        question="Adds a line to its thread.",
        apply=lambda pk, actor, data: notes.add(pk, data["text"], actor=actor),
        refuse=_refuse_merged,
        form=NoteForm,
    ),
    Operation(
        name="snooze",
        title="Snooze…",
        icon="snooze",
        done="snoozed",
        question="Out of sight until a time, a count or a new version, whichever comes first.",
        apply=_snooze,
        refuse=_refuse_unless(GroupStatus.SNOOZED),
        form=SnoozeForm,
    ),
    Operation(
        name="resolve",
        title="Resolve…",
        icon="check_circle",
        done="resolved",
        question="Says that it is mended. Its open dead letters stay open: redrive or discard "
        "them.",
        apply=lambda pk, actor, data: status.resolve(
            pk, in_version=data["version"], actor=actor, reason=data["reason"]
        ),
        refuse=_refuse_unless(GroupStatus.RESOLVED),
        form=ResolveForm,
    ),
    Operation(
        name="ignore",
        title="Ignore…",
        icon="visibility_off",
        done="ignored",
        question="Nobody is told of it any more; it goes on being counted.",
        apply=lambda pk, actor, data: status.ignore(pk, actor=actor, reason=data["reason"]),
        refuse=_refuse_unless(GroupStatus.IGNORED),
    ),
    Operation(
        name="reopen",
        title="Reopen…",
        icon="undo",
        done="reopened",
        question="Takes it up again, as if it were new.",
        apply=lambda pk, actor, data: status.reopen(pk, actor=actor, reason=data["reason"]),
        refuse=_refuse_unless(GroupStatus.NEW),
    ),
    Operation(
        name="mute",
        title="Mute alerts…",
        icon="notifications_off",
        done="muted",
        question="Raises no alerts of it any more.",
        apply=lambda pk, actor, data: status.mute(pk, True, actor=actor, reason=data["reason"]),
        refuse=_refuse_unless_muted(True),
    ),
    Operation(
        name="unmute",
        title="Unmute alerts…",
        icon="notifications",
        done="unmuted",
        question="Raises alerts of it again.",
        apply=lambda pk, actor, data: status.mute(pk, False, actor=actor, reason=data["reason"]),
        refuse=_refuse_unless_muted(False),
        bulk=False,
    ),
    Operation(
        name="merge",
        title="Merge into…",
        icon="merge",
        done="merged",
        question="Its failures, so far and from now on, become those of another group.",
        apply=_merge,
        refuse=_refuse_merged,
        form=MergeForm,
        danger=True,
        destination=_merged_into,
    ),
    Operation(
        name="split",
        title="Split by…",
        icon="call_split",
        done="split",
        question="Tells its failures apart, so far and from now on: a group a value.",
        apply=lambda pk, actor, data: joining.split(
            pk, data["by"], actor=actor, reason=data["reason"]
        ),
        refuse=_refuse_merged,
        form=SplitForm,
        bulk=False,
    ),
)
