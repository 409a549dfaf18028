"""Automatic status changes of a group, and the allowed status changes.

This module is pure: it reads no clock and no rows.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from dlq.states import GroupStatus

_S = GroupStatus
# The statuses to which a snoozed or redriven group may return.
UNSETTLED = frozenset({_S.NEW, _S.ACKNOWLEDGED, _S.REGRESSED})
MOVES: Mapping[GroupStatus, frozenset[GroupStatus]] = {
    _S.NEW: frozenset({_S.ACKNOWLEDGED, _S.SNOOZED, _S.REDRIVING, _S.RESOLVED, _S.IGNORED}),
    _S.ACKNOWLEDGED: frozenset({_S.NEW, _S.SNOOZED, _S.REDRIVING, _S.RESOLVED, _S.IGNORED}),
    _S.SNOOZED: frozenset(_S),
    _S.REDRIVING: frozenset(_S) - {_S.REDRIVING, _S.SNOOZED},
    _S.RESOLVED: frozenset({_S.NEW, _S.REGRESSED, _S.REDRIVING, _S.RESOLVED, _S.IGNORED}),
    _S.REGRESSED: frozenset({_S.ACKNOWLEDGED, _S.SNOOZED, _S.REDRIVING, _S.RESOLVED, _S.IGNORED}),
    _S.IGNORED: frozenset({_S.NEW, _S.ACKNOWLEDGED, _S.REDRIVING, _S.RESOLVED}),
}


@dataclass(frozen=True, slots=True)
class GroupStanding:
    """A group's status, the time at which this status began, and the conditions that end it.

    A SNOOZED group returns to `before`; so does a REDRIVING group, unless the redrive resolves it.
    During the redrive of a resolved group, `since` is the time of the resolution. A failure in
    version `resolved_in` or later is a regression; if `resolved_in` is None, any later failure is.
    """

    status: GroupStatus
    since: datetime
    before: GroupStatus | None = None
    resolved_in: int | None = None
    until: datetime | None = None
    total: int | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True)
class Occurrence:
    """New failures of a group: the new total, and the time of the last failure in each version."""

    total: int
    last: Mapping[int, datetime]


def regressed_in(standing: GroupStanding, seen: Occurrence) -> int | None:
    """Return the newest version in which a resolved group regressed; None if it did not regress.

    During a redrive, the group's previous status is used. Failures that occurred before the
    resolution but were counted later are ignored.
    """
    status = standing.before if standing.status is _S.REDRIVING else standing.status
    if status is not _S.RESOLVED:
        return None
    again = [
        number
        for number, at in seen.last.items()
        if at > standing.since and (standing.resolved_in is None or number >= standing.resolved_in)
    ]
    return max(again, default=None)


def wakes(standing: GroupStanding, seen: Occurrence, now: datetime) -> bool:
    """Return whether the time, the count, or a failure in a later version ends a snooze."""
    if standing.status is not _S.SNOOZED:
        return False
    if standing.until is not None and standing.until <= now:
        return True
    if standing.total is not None and seen.total >= standing.total:
        return True
    return standing.version is not None and any(n > standing.version for n in seen.last)


def back(standing: GroupStanding) -> GroupStatus:
    """Return the status that follows a snooze, or redrives that did not resolve the group."""
    return standing.before or _S.NEW


def after_redrives(standing: GroupStanding, *, clean: bool, anything_open: bool) -> GroupStatus:
    """Return the status after the last of a group's redrives; an ignored group remains ignored."""
    if clean and not anything_open and back(standing) is not _S.IGNORED:
        return _S.RESOLVED
    return back(standing)
