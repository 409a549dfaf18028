"""What users do to a failure group. Needs OPERATE; each calls the one writer of what it changes."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from dlq.groups import joining, notes, rules, status
from dlq.models import FailureGroup, GroupStatus
from executions.access.actor import Actor
from executions.access.operation import Operation

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
    """Until a time, a version after `version`, `total` failures, or so many `more` than now."""
    total = data.get("total")
    if data.get("more") is not None:
        total = FailureGroup.objects.values_list("total", flat=True).get(pk=pk) + data["more"]
    return status.snooze(
        pk, until=data["until"], total=total, version=data["version"], actor=actor,
        reason=data["reason"],
    )  # fmt: skip


def _merge(pk: UUID, actor: Actor, data: Data) -> Any:
    return joining.merge(data["target"], [pk], actor=actor, reason=data["reason"])


ACKNOWLEDGE = Operation(
    name="acknowledge",
    apply=lambda pk, actor, data: status.acknowledge(pk, actor=actor, reason=data["reason"]),
    refuse=_refuse_unless(GroupStatus.ACKNOWLEDGED),
)
ASSIGN = Operation(
    name="assign",
    apply=lambda pk, actor, data: status.assign(
        pk, data["owner"], actor=actor, reason=data["reason"]
    ),
    refuse=_refuse_merged,
)
NOTE = Operation(
    name="note",
    apply=lambda pk, actor, data: notes.add(pk, data["text"], actor=actor),
    refuse=_refuse_merged,
)
SNOOZE = Operation(
    name="snooze",
    apply=_snooze,
    refuse=_refuse_unless(GroupStatus.SNOOZED),
)
RESOLVE = Operation(
    name="resolve",
    apply=lambda pk, actor, data: status.resolve(
        pk, in_version=data["version"], actor=actor, reason=data["reason"]
    ),
    refuse=_refuse_unless(GroupStatus.RESOLVED),
)
IGNORE = Operation(
    name="ignore",
    apply=lambda pk, actor, data: status.ignore(pk, actor=actor, reason=data["reason"]),
    refuse=_refuse_unless(GroupStatus.IGNORED),
)
REOPEN = Operation(
    name="reopen",
    apply=lambda pk, actor, data: status.reopen(pk, actor=actor, reason=data["reason"]),
    refuse=_refuse_unless(GroupStatus.NEW),
)
MUTE = Operation(
    name="mute",
    apply=lambda pk, actor, data: status.mute(pk, True, actor=actor, reason=data["reason"]),
    refuse=_refuse_unless_muted(True),
)
UNMUTE = Operation(
    name="unmute",
    apply=lambda pk, actor, data: status.mute(pk, False, actor=actor, reason=data["reason"]),
    refuse=_refuse_unless_muted(False),
)
MERGE = Operation(
    name="merge",
    apply=_merge,
    refuse=_refuse_merged,
)
SPLIT = Operation(
    name="split",
    apply=lambda pk, actor, data: joining.split(pk, data["by"], actor=actor, reason=data["reason"]),
    refuse=_refuse_merged,
)
