"""Merge and split failure groups.

A merge or split first assigns the fingerprints to other groups: after the commit, new failures join
the right group. The existing entries follow in batches, the first two in the same transaction.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet

from dlq.events import groups_merging
from dlq.groups import tally
from dlq.groups.errors import CannotJoin, CannotSplit
from dlq.groups.facets import FACETS, facet, facets_of, label
from dlq.groups.find_group import Failing, Placed, ensure, part_fingerprint, placed
from dlq.groups.fingerprint import normalise, place_of
from dlq.groups.locking import keep_counters, locked, locked_all
from dlq.models import (
    DeadLetterEntry,
    FailureGroup,
    GroupFingerprint,
    GroupMove,
    GroupNews,
    GroupNote,
    GroupStatus,
    Resolution,
)
from executions.access.actor import Actor, record
from executions.database import transaction
from executions.database.clock import database_now
from executions.database.ids import uuid7
from executions.errors import WrongState

# Move entries to another group in batches, each in a separate transaction.
#
# A merge counts the entries in the target before it moves them. An unmerge or a split moves the
# counts together with the entries. A failure that looked up its group earlier may still arrive at
# the source, so a move ends only when no entry is left and no such transaction can still be
# running.


BATCH = 500
MOVES = 20  # maximum number of moves per turn
# Longer than any transaction of the engine; its statement timeout is half of this.
SETTLED_AFTER = timedelta(seconds=60)


def move_on(seconds: float = 0.4) -> int:
    """Continue up to 20 moves while there is time; return how many entries were moved."""
    until, count = monotonic() + seconds, 0
    for pk in list(GroupMove.objects.values_list("pk", flat=True)[:MOVES]):
        moved = 1
        while moved and monotonic() < until:
            moved = carry(pk)
            count += moved
    return count


@transaction.atomic
def carry(move_id: int, batch: int = BATCH) -> int:
    """Move one batch of entries; return how many. Delete the move if it is finished.

    Does nothing if another process has locked the move.
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
        GroupMove.objects.filter(pk=move.pk).update(after=None)  # start again from the beginning
    elif move.created_at < database_now() - SETTLED_AFTER and not _waiting(move).exists():
        move.delete()
    return len(entries)


def _by_age(move: GroupMove) -> bool:
    """Return whether the move reads entries oldest first: moved entries keep their fingerprint."""
    return bool(move.fingerprint) and not move.by


def _waiting(move: GroupMove) -> QuerySet[DeadLetterEntry]:
    """Return the entries that the move has not moved yet."""
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
    """Return the data that determines an existing entry's group."""
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
    """Queue changes of counters per version and hour: subtract from one group, add to another."""
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
    """Return one row of changes; two if `seen` exceeds 1, for the first and the last failure."""
    group_id, number, _ = key

    def row(at: datetime, seen: int, opened: int) -> GroupNews:
        return GroupNews(
            group_id=group_id, at=at, version_number=number, seen=seen, open=opened, moved=True
        )

    if seen > 1:
        return [row(first, seen - 1, opened), row(last, 1, 0)]
    return [row(first, seen, opened)]


MOST_AT_ONCE = 50  # maximum number of groups in a merge, and of parts in a split
LOOKED_AT = 10_000  # newest entries from which a split is estimated
AT_ONCE = 2  # batches that are moved before the response
# Statuses that a group made from another group's entries keeps.
KEPT = frozenset({GroupStatus.NEW, GroupStatus.ACKNOWLEDGED, GroupStatus.IGNORED})


@dataclass(frozen=True, slots=True)
class GroupPart:
    """One value of a facet, and the group of its failures."""

    value: str
    group_id: UUID


def merge(
    target_id: UUID, source_ids: Iterable[UUID], *, actor: Actor, reason: str = ""
) -> FailureGroup:
    """Merge groups and their future failures into the target; return the target.

    The target keeps its status and owner. Raises NotFound, WrongState or CannotJoin.
    """
    ids = sorted(set(source_ids))
    if not 0 < len(ids) <= MOST_AT_ONCE:
        raise CannotJoin(f"Expected 1 to {MOST_AT_ONCE} other groups to merge, got {len(ids)}.")
    if target_id in ids:
        raise CannotJoin(
            "A group cannot be merged into itself. Remove it from the list of other groups."
        )
    with transaction.atomic():
        keep_counters()
        # Before the groups are locked: receivers change redrives, which are locked before their
        # groups.
        groups_merging.send(FailureGroup, group_id=target_id, merged_ids=ids)
        locked_all([target_id, *ids])
        target, *sources = (_still(locked(pk)) for pk in (target_id, *ids))
        if strangers := [str(one.pk) for one in sources if one.workspace_id != target.workspace_id]:
            raise CannotJoin(f"These groups belong to another workspace: {', '.join(strangers)}.")
        tally.absorb(target.pk, ids)
        _repoint(target, ids)
        _begin(GroupMove(source=source, target=target) for source in sources)
        details = {"groupIds": [str(pk) for pk in ids]}
        _note(target, "merge", actor, reason, details)
    target.refresh_from_db()
    return target


def unmerge(group_id: UUID, fingerprint: str, *, actor: Actor, reason: str = "") -> FailureGroup:
    """Create a separate group for one of a group's fingerprints, and return this new group.

    Entries that retention deleted remain in the old group's count. Raises NotFound, WrongState or
    CannotSplit.
    """
    with transaction.atomic():
        keep_counters()
        group = _still(locked(group_id))
        own = group.fingerprints.filter(split_by="")
        if not own.filter(fingerprint=fingerprint).exists():
            raise CannotSplit(f"The group has no fingerprint {fingerprint[:64]}.")
        if own.count() < 2:
            raise CannotSplit("The group has only this fingerprint. Split it by a facet instead.")
        made = _like(group, _sample(group, fingerprint))
        own.filter(fingerprint=fingerprint).update(group=made)
        _begin([GroupMove(source=group, target=made, fingerprint=fingerprint)])
        details = {"fingerprint": fingerprint, "groupId": str(made.pk)}
        _note(group, "unmerge", actor, reason, details)
    return made


def split(group_id: UUID, by: str, *, actor: Actor, reason: str = "") -> list[GroupPart]:
    """Split the group's existing and future failures by a facet, such as `http_status`.

    The group keeps the failures with the most frequent value. Each other value, including values
    that appear later, gets its own group, up to MOST_PARTS. Returns the parts, the group itself
    first. Raises NotFound, WrongState, or CannotSplit for an unknown facet, or if the newest
    entries have only one value or too many.
    """
    if by not in FACETS:
        raise CannotSplit(f"Groups cannot be split by {by[:50]!r}; expected {', '.join(FACETS)}.")
    with transaction.atomic():
        keep_counters()
        group = _still(locked(group_id))
        values = [value for value, _ in _values(group, by).most_common()]
        if len(values) < 2:
            raise CannotSplit(f"All newest failures of the group have the same {FACETS[by]}.")
        if len(values) > MOST_AT_ONCE:
            raise CannotSplit(
                f"The group has {len(values):,} values of {FACETS[by]}; a split can have at most "
                f"{MOST_AT_ONCE}."
            )
        parts = [GroupPart(values[0], group.pk), *(_part(group, by, value) for value in values[1:])]
        _tell_apart(group, by, parts)
        found = {part.value or "none": str(part.group_id) for part in parts}
        _note(group, "split", actor, reason, {"by": by, "groups": found})
    return parts


def _still(group: FailureGroup) -> FailureGroup:
    """Return the group. Raises WrongState if a redrive of the group is running."""
    if group.redriving:
        raise WrongState(
            f"Failure group {group.pk} is being redriven. Wait until the redrive ends, or abort "
            "it.",
            group.status,
        )
    return group


def _repoint(target: FailureGroup, ids: list[UUID]) -> None:
    """Redirect references to the merged groups (`ids`) to the target, except those of entries."""
    GroupFingerprint.objects.filter(group_id__in=ids).update(group=target)
    FailureGroup.objects.filter(merged_into_id__in=ids).update(merged_into=target)
    FailureGroup.objects.filter(pk__in=ids).update(merged_into=target)
    GroupMove.objects.filter(target_id__in=ids).update(target=target)
    GroupNote.objects.filter(group_id__in=ids).update(group=target)


def _begin(moves: Iterable[GroupMove]) -> None:
    """Save the moves, and carry out the first `AT_ONCE` batches of each move."""
    for move in moves:
        move.save()
        for _ in range(AT_ONCE):
            if not carry(move.pk):
                break


def _values(group: FailureGroup, by: str) -> Counter[str]:
    newest = DeadLetterEntry.objects.filter(group=group).order_by("-pk")
    return Counter(newest.values_list(facet(by), flat=True)[:LOOKED_AT])


def _part(group: FailureGroup, by: str, value: str) -> GroupPart:
    return GroupPart(value, _like(group, {}, label(by, value)).pk)


def _tell_apart(group: FailureGroup, by: str, parts: list[GroupPart]) -> None:
    """Assign each value's fingerprints to its group, and begin to move the entries there."""
    own = list(group.fingerprints.filter(split_by="").values_list("fingerprint", flat=True))
    group.split_on = _also(group.split_on, label(by, parts[0].value))
    group.save(update_fields=["split_on"])
    for fingerprint in own:
        for part in parts:
            value = part_fingerprint(fingerprint, by, part.value)
            ensure(group.workspace_id, value, part.group_id, part_of=fingerprint)
    group.fingerprints.filter(fingerprint__in=own).update(split_by=by)
    _begin(GroupMove(source=group, fingerprint=fingerprint, by=by) for fingerprint in own)


def _like(group: FailureGroup, of: Mapping[str, Any], split_on: str = "") -> FailureGroup:
    """Return a new group for a part of another group's failures, with the same owner and `muted`.

    A status in `KEPT` is copied; any other becomes ACKNOWLEDGED. The entries that move to the new
    group determine its first and last failure.
    """
    fields = {
        name: getattr(group, name)
        for name in ("workflow_id", "rule", "place", "module", "exception", "message", "sample")
    }
    made = FailureGroup.objects.create(
        pk=uuid7(),
        workspace_id=group.workspace_id,
        owner_id=group.owner_id,
        muted=group.muted,
        status=group.status if group.status in KEPT else GroupStatus.ACKNOWLEDGED,
        split_on=_also(group.split_on, split_on),
        first_seen=group.last_seen,
        last_seen=group.first_seen,
        **{**fields, **of},
    )
    made.refresh_from_db()
    return made


def _sample(group: FailureGroup, fingerprint: str) -> dict[str, Any]:
    """Return the data of a fingerprint's newest failure, used as a sample; {} without a failure."""
    rows = DeadLetterEntry.objects.filter(
        workspace_id=group.workspace_id, fingerprint=fingerprint
    ).defer("original_inputs", "original_config")
    entry = rows.order_by("-quarantined_at").first()
    if entry is None:
        return {}
    about = failing_of(entry)
    names = ("workflow_id", "place", "module", "exception", "message")
    return {name: getattr(about, name) for name in names} | {"sample": about.sample[:2_000]}


def _also(before: str, more: str) -> str:
    return ", ".join(text for text in (before, more) if text)[:400]


def _note(
    group: FailureGroup, verb: str, actor: Actor, reason: str, details: dict[str, Any]
) -> None:
    record(
        actor,
        f"group.{verb}",
        workspace_id=group.workspace_id,
        object_type=FailureGroup.AUDITED_AS,
        object_id=group.pk,
        reason=reason,
        details=details,
    )
