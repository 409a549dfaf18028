"""Takes entries to another group, batch by batch, each in a transaction of its own.

What a merge moves is counted with its target already; an unmerged or split entry takes its counts
along. A failure that looked its group up before may still arrive where it was: a move is over when
nothing is left and no such transaction can be alive any more.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from time import monotonic
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet

from dlq.groups.facets import facets_of
from dlq.groups.finding import Failing, Placed, placed
from dlq.groups.fingerprint import normalise, place_of
from dlq.models import DeadLetterEntry, GroupMove, GroupNews, Resolution
from executions.database.clock import database_now

BATCH = 500
MOVES = 20  # looked at in one turn
# No transaction of the engine lives as long (its statement time-out is half of that).
SETTLED_AFTER = timedelta(seconds=60)


def move_on(seconds: float = 0.4) -> int:
    """Go on with all moves until the time is over; returns how many entries were moved."""
    until, count = monotonic() + seconds, 0
    for pk in list(GroupMove.objects.values_list("pk", flat=True)[:MOVES]):
        moved = 1
        while moved and monotonic() < until:
            moved = carry(pk)
            count += moved
    return count


@transaction.atomic
def carry(move_id: int, batch: int = BATCH) -> int:
    """One batch of a move; returns how many entries went. One that is over is deleted.

    Whoever finds the move in other hands does nothing.
    """
    rows = GroupMove.objects.select_for_update(skip_locked=True, of=("self",))
    move = rows.select_related("source").filter(pk=move_id).first()
    if move is None:
        return 0
    entries = list(_waiting(move).select_for_update(skip_locked=True, no_key=True)[:batch])
    if entries:
        _bring(move, entries)
        after = entries[-1].quarantined_at if _by_age(move) else None
        GroupMove.objects.filter(pk=move.pk).update(moved=F("moved") + len(entries), after=after)
    elif move.after is not None:
        GroupMove.objects.filter(pk=move.pk).update(after=None)  # once more from the beginning
    elif move.created_at < database_now() - SETTLED_AFTER and not _waiting(move).exists():
        move.delete()
    return len(entries)


def _by_age(move: GroupMove) -> bool:
    """Whether those that went stay among those that are looked through."""
    return bool(move.fingerprint) and not move.by


def _waiting(move: GroupMove) -> QuerySet[DeadLetterEntry]:
    """The entries that have not been moved yet, as far as is looked in one pass."""
    rows = DeadLetterEntry.objects.order_by().defer("original_inputs", "original_config")
    if not move.fingerprint:
        return rows.filter(group_id=move.source_id)
    rows = rows.filter(workspace_id=move.source.workspace_id, fingerprint=move.fingerprint)
    if move.by:
        return rows  # each gets the fingerprint of its part
    if move.after is not None:
        rows = rows.filter(quarantined_at__gte=move.after)
    return rows.exclude(group_id=move.target_id).order_by("quarantined_at")


def _bring(move: GroupMove, entries: list[DeadLetterEntry]) -> None:
    homes = _homes(move, entries)
    for home in set(homes.values()):
        ids = [pk for pk, where in homes.items() if where == home]
        DeadLetterEntry.objects.filter(pk__in=ids).update(
            group_id=home.group_id, fingerprint=home.fingerprint
        )
    if move.fingerprint:
        _take_counts_along(entries, homes)


def _homes(move: GroupMove, entries: list[DeadLetterEntry]) -> dict[UUID, Placed]:
    if move.by:
        parts: dict[str, Placed] = {}
        for entry in entries:
            value = facets_of(entry)[move.by]
            parts[value] = parts.get(value) or placed(failing_of(entry))
        return {entry.pk: parts[facets_of(entry)[move.by]] for entry in entries}
    assert move.target_id is not None, "a move without a facet has a target"
    return {entry.pk: Placed(move.target_id, entry.fingerprint) for entry in entries}


def failing_of(entry: DeadLetterEntry) -> Failing:
    """What an entry tells of its group, as when it failed."""
    return Failing(
        workspace_id=entry.workspace_id,
        workflow_id=entry.workflow_id,
        fingerprint=entry.fingerprint,
        place=place_of(entry.step_path),
        module=entry.module,
        exception=entry.exception,
        message=normalise(entry.failure_reason),
        sample=entry.failure_reason,
        version_number=entry.version_number,
        facets=facets_of(entry),
    )


def _take_counts_along(entries: list[DeadLetterEntry], homes: Mapping[UUID, Placed]) -> None:
    """News of both sides, by version and hour: so many less here, so many more there."""
    seen: Counter[tuple[UUID, int, datetime]] = Counter()
    opened: Counter[tuple[UUID, int, datetime]] = Counter()
    times: dict[tuple[UUID, int, datetime], list[datetime]] = {}
    for entry in entries:
        at, to = entry.quarantined_at, homes[entry.pk].group_id
        if to == entry.group_id:
            continue
        hour = at.replace(minute=0, second=0, microsecond=0)
        is_open = entry.resolution == Resolution.PENDING
        for group_id, sign in ((entry.group_id, -1), (to, 1)):
            key = (group_id, entry.version_number, hour)
            seen[key] += sign
            opened[key] += sign * is_open
            times.setdefault(key, []).append(at)
    GroupNews.objects.bulk_create(
        news
        for key in times
        for news in _news(key, seen[key], opened[key], min(times[key]), max(times[key]))
    )


def _news(
    key: tuple[UUID, int, datetime], seen: int, opened: int, first: datetime, last: datetime
) -> list[GroupNews]:
    """One row, or two where there is an earliest and a latest to be told."""
    group_id, number, _ = key

    def row(at: datetime, seen: int, opened: int) -> GroupNews:
        return GroupNews(
            group_id=group_id, at=at, version_number=number, seen=seen, open=opened, moved=True
        )

    if seen > 1:
        return [row(first, seen - 1, opened), row(last, 1, 0)]
    return [row(first, seen, opened)]
