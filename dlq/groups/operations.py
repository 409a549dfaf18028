"""Users' operations on a failure group, which need the action OPERATE.

Each operation calls the function that writes its data.
"""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from dlq.groups import merging, rules, status
from dlq.groups.errors import BadTerms
from dlq.groups.locking import locked
from dlq.models import FailureGroup, GroupNote, GroupStatus
from executions.access.actor import Actor, record
from executions.access.operation import Operation
from executions.database import transaction

# Notes of users on a failure group, in the order of their creation.


LONGEST = 10_000


def add(group_id: UUID, text: str, *, actor: Actor) -> GroupNote:
    """Add a user's note to a group.

    Raises NotFound, WrongState for a merged group, or BadTerms for an empty or too long note.
    """
    text = text.strip()
    if not 0 < len(text) <= LONGEST:
        raise BadTerms(f"A note has 1 to {LONGEST:,} characters; this one has {len(text):,}.")
    with transaction.atomic():
        group = locked(group_id)
        note = GroupNote.objects.create(
            group=group, author_id=actor.user_id, author_name=actor.name[:200], text=text
        )
        record(
            actor,
            "group.note",
            workspace_id=group.workspace_id,
            object_type=FailureGroup.AUDITED_AS,
            object_id=group.pk,
            details={"noteId": str(note.pk)},
        )
    note.refresh_from_db(fields=["at"])
    return note


Data = Mapping[str, Any]


def _refuse_unless(to: GroupStatus) -> Callable[[FailureGroup], str]:
    """Return a function that returns the reason why a status cannot become `to`; "" if it can."""

    def refuse(group: FailureGroup) -> str:
        if merged := _refuse_merged(group):
            return merged
        known = GroupStatus(group.status)
        if known is GroupStatus.REDRIVING:
            return "It is being redriven. Wait until the redrive ends, or abort it."
        return "" if to in rules.MOVES[known] else f"Not possible: this group is {known.label}."

    return refuse


def _refuse_merged(group: FailureGroup) -> str:
    return "It was merged into another group." if group.merged_into_id else ""


def _refuse_unless_muted(muted: bool) -> Callable[[FailureGroup], str]:
    word = "muted" if muted else "not muted"
    return lambda group: (
        _refuse_merged(group) or ("" if group.muted is not muted else f"It is {word} already.")
    )


def _snooze(pk: UUID, actor: Actor, data: Data) -> Any:
    """Snooze until a time, `total` failures, `more` further failures, or one in a later version."""
    total = data.get("total")
    if data.get("more") is not None:
        total = FailureGroup.objects.values_list("total", flat=True).get(pk=pk) + data["more"]
    return status.snooze(
        pk, until=data["until"], total=total, version=data["version"], actor=actor,
        reason=data["reason"],
    )  # fmt: skip


def _merge(pk: UUID, actor: Actor, data: Data) -> Any:
    return merging.merge(data["target"], [pk], actor=actor, reason=data["reason"])


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
    apply=lambda pk, actor, data: add(pk, data["text"], actor=actor),
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
    apply=lambda pk, actor, data: merging.split(pk, data["by"], actor=actor, reason=data["reason"]),
    refuse=_refuse_merged,
)
