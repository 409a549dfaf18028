"""One body that changes a failure group: its status, its owner, whether it raises alerts."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from dlq.groups import status
from dlq.models import GroupStatus
from executions.access.actor import Actor


@transaction.atomic
def change(group_id: UUID, given: Mapping[str, Any], *, actor: Actor) -> None:
    """Make every change of the body, or none. Raises what the single changes raise."""
    reason = given["reason"]
    if "status" in given:
        _move(group_id, given, actor, reason)
    if "ownerId" in given:
        status.assign(group_id, given["ownerId"], actor=actor, reason=reason)
    if "muted" in given:
        status.mute(group_id, given["muted"], actor=actor, reason=reason)


def _move(group_id: UUID, given: Mapping[str, Any], actor: Actor, reason: str) -> None:
    to = GroupStatus(given["status"])
    if to is GroupStatus.SNOOZED:
        status.snooze(
            group_id,
            until=given.get("snoozeUntil"),
            total=given.get("snoozeTotal"),
            version=given.get("snoozeVersion"),
            actor=actor,
            reason=reason,
        )
    elif to is GroupStatus.RESOLVED:
        number = given.get("resolvedIn")
        status.resolve(group_id, in_version=number, actor=actor, reason=reason)
    else:
        moves = {
            GroupStatus.NEW: status.reopen,
            GroupStatus.ACKNOWLEDGED: status.acknowledge,
            GroupStatus.IGNORED: status.ignore,
        }
        moves[to](group_id, actor=actor, reason=reason)
