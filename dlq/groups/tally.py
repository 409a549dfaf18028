"""The counters of failure groups; only this module writes the counters.

Adding or resolving a dead letter writes a row of changes. `fold` adds up the rows in batches, each
in one transaction, so a crash loses no change. The new counts decide whether a resolved group has
regressed, and whether a snooze ends.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic
from typing import Any
from uuid import UUID

from django.dispatch import Signal

from dlq import statements
from dlq.events import group_new, group_regressed
from dlq.groups import merging, status
from dlq.groups.locking import locked_all, try_counters
from dlq.groups.rules import Occurrence
from dlq.models import FailureGroup, GroupStatus
from executions.database import transaction
from executions.database.clock import database_now

log = logging.getLogger(__name__)

BATCH = 2_000  # rows of news in one transaction
SLEEPERS = 100  # snoozed groups checked in one turn


@dataclass(slots=True)
class Sums:
    """The sums of one group's changes."""

    seen: int = 0
    open: int = 0
    fresh: int = 0  # seen, without entries that were only moved here
    moved: bool = False
    first: datetime | None = None
    last: datetime | None = None
    hours: dict[datetime, int] = field(default_factory=dict)
    versions: dict[int, tuple[int, datetime | None, datetime | None]] = field(default_factory=dict)
    failed: dict[int, datetime] = field(default_factory=dict)  # version → time of the last failure


def fold(seconds: float = 0.5, batch: int = BATCH) -> int:
    """Count changes until none are left or `seconds` have passed; return how many were counted.

    Does nothing while another process holds the counters' lock.
    """
    until, count = monotonic() + seconds, 0
    while True:
        taken = _fold_once(batch)
        count += taken
        if taken < batch or monotonic() >= until:
            return count


@transaction.atomic
def wake() -> int:
    """End at most 100 snoozes whose time has passed; return how many."""
    now = database_now()
    due = FailureGroup.objects.filter(status=GroupStatus.SNOOZED, snoozed_until__lte=now)
    ids = due.order_by("snoozed_until").values_list("pk", flat=True)[:SLEEPERS]
    groups = [group for group in locked_all(ids) if group.status == GroupStatus.SNOOZED]
    for group in groups:
        status.hear(group, Occurrence(group.total, {}), now)
    return len(groups)


def absorb(target_id: UUID, source_ids: Sequence[UUID]) -> None:
    """Add the counts of the source groups to the target's; the caller holds the counters' lock."""
    params = {"target": target_id, "sources": list(source_ids)}
    for name in ("merge_totals", "merge_hours", "merge_versions"):
        statements.fetch(name, params)


@transaction.atomic
def _fold_once(batch: int) -> int:
    if not try_counters():
        return 0
    rows = statements.fetch("take_counter_changes", {"most": batch})
    if not rows:
        return 0
    sums = summed(rows)
    groups = {group.pk: group for group in locked_all(sums)}
    totals = _add(sums)
    now = database_now()
    for pk, group in groups.items():
        group.total = totals[pk]
        _tell(group, sums[pk], now)
    return sum(row[-1] for row in rows)


def summed(rows: Iterable[tuple[Any, ...]]) -> dict[UUID, Sums]:
    """Return the sums of the rows of `take_counter_changes.sql`, keyed by group ID."""
    found: dict[UUID, Sums] = {}
    for group_id, version, hour, moved, seen, opened, first, last, _ in rows:
        sums = found.setdefault(group_id, Sums())
        sums.seen += seen
        sums.open += opened
        if moved:
            sums.moved = True
        elif seen > 0:
            sums.fresh += seen
            sums.failed[version] = max(last, sums.failed.get(version, last))
        sums.first, sums.last = _earlier(sums.first, first), _later(sums.last, last)
        sums.hours[hour] = sums.hours.get(hour, 0) + seen
        count, earliest, latest = sums.versions.get(version, (0, None, None))
        sums.versions[version] = (count + seen, _earlier(earliest, first), _later(latest, last))
    return found


def _add(sums: dict[UUID, Sums]) -> dict[UUID, int]:
    """Add the sums to the counters of each group, hour and version; return the groups' totals."""
    counted = sums.items()
    totals = statements.fetch(
        "add_totals",
        {
            "groups": list(sums),
            "seen": [one.seen for one in sums.values()],
            "open": [one.open for one in sums.values()],
            "first": [one.first for one in sums.values()],
            "last": [one.last for one in sums.values()],
        },
    )
    hours = [(pk, hour, n) for pk, one in counted for hour, n in one.hours.items() if n]
    if hours:
        statements.fetch("add_hours", _columns(("groups", "hours", "seen"), hours))
    versions = [
        (pk, number, *more)
        for pk, one in counted
        for number, more in one.versions.items()
        if number and more[0]
    ]
    if versions:
        names = ("groups", "numbers", "seen", "first", "last")
        statements.fetch("add_versions", _columns(names, versions))
    return dict(totals)


def _tell(group: FailureGroup, sums: Sums, now: datetime) -> None:
    """Announce a new group; apply new failures to the group's status, and announce a regression."""
    if not sums.fresh:
        return
    if group.total == sums.fresh and not sums.moved:
        _announce(group_new, group)
    number = status.hear(group, Occurrence(group.total, sums.failed), now)
    if number is not None:
        _announce(group_regressed, group, version_number=number)


def _announce(signal: Signal, group: FailureGroup, **facts: Any) -> None:
    """Send a signal about a group; if a receiver fails, roll the receivers' writes back and log it.

    Otherwise the failing call would repeat each second and block the counting of all groups.
    """
    try:
        with transaction.atomic():
            signal.send(FailureGroup, group_id=group.pk, **facts)
    except Exception:
        log.exception("group %s was counted, but some notifications failed", group.pk)


def _columns(names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min(one, other) if one and other else one or other


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(one, other) if one and other else one or other


# Update the counters of failure groups once per second; each update takes well under a second.


def turn() -> dict[str, int]:
    """Count changes, end snoozes that are over, and continue moves; return the three counts."""
    return {"counted": fold(), "woken": wake(), "moved": merging.move_on()}
