"""Delete finished executions, family by family, with their runs and other dependent rows.

A transaction deletes families with at most `batch` executions and 5,000 runs in total. A larger
family needs several transactions: runs first, executions without children next, and the root last,
so that the next process can continue after a crash.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from uuid import UUID

from dlq import statements
from dlq.retention import bulk
from dlq.retention.batches import PruningPace, PruningTally
from dlq.retention.periods import RetentionPeriods
from dlq.retention.references import BELONGINGS
from dlq.retention.run_partitions import RunPartitions
from dlq.retention.terms import parameters, youngest_end
from dlq.retention.unstored import not_stored
from executions.models import RefusedMessage, WorkflowExecution
from executions.vendor_seams.django_deletion import delete_without_cascade
from runners.models import Run

# Only whole families (a root with all its descendants) may be deleted.
#
# A family is deleted when each of its members has ended and expired, no dead letter of it is left
# (open and pinned dead letters stay), no dead letter refers to it, and no live fork began from it.


CHUNK = 2_000
REASONS = {
    5: "an execution that they started is still running",
    4: "an execution that they started must be kept longer",
    3: "open dead letters",
    2: "dead letters that are pinned or not expired",
    1: "forks of them are still running",
}
MEMBERS = 500
START = datetime(1970, 1, 1, tzinfo=UTC)
NOBODY = UUID(int=0)
# Plugins that read executions add a function. Given the time, it returns the end of the first
# execution that the plugin still needs; executions that ended later are not deleted.
HORIZONS: list[Callable[[datetime], datetime]] = []
NOT_STORED = "they are not in the archive yet"


@dataclass(frozen=True, slots=True)
class Family:
    """A root and its descendants; `reason` is why the family is kept ("" if it may be deleted).

    `members` are executions up to a limit, executions without children first. `size` and `runs`
    count all members and all their runs.
    """

    root: UUID
    size: int
    runs: int
    reason: str
    members: tuple[UUID, ...]

    @property
    def whole(self) -> bool:
        """Return whether `members` contains all members of the family."""
        return self.size == len(self.members)


@dataclass(frozen=True, slots=True)
class PruningPosition:
    """The position of a walk: the end time and the ID of the last execution that was read."""

    at: datetime = START
    id: UUID = NOBODY


@dataclass(frozen=True, slots=True)
class LettersGone:
    """Dead letters that count as deleted, because pruning deletes dead letters before executions.

    They expired before or at `expired`, or were resolved before `resolved`, and are not in `held`.
    """

    expired: datetime | None = None
    resolved: datetime | None = None
    held: tuple[UUID, ...] = ()


NONE_GONE = LettersGone()


@dataclass(frozen=True, slots=True)
class WalkBatch:
    """A part of a walk: the expired roots with the times at which they ended.

    `end` is the position after the last execution that was read.
    """

    roots: dict[UUID, datetime]
    end: PruningPosition


def horizon(wanted: RetentionPeriods) -> datetime | None:
    """Return the time before which executions must have ended to be deleted; None keeps all.

    Retention periods and the needs of plugins determine it.
    """
    youngest = youngest_end(wanted.terms, wanted.now)
    if youngest is None:
        return None
    return min([youngest, *(needed_since(wanted.now) for needed_since in HORIZONS)])


def walk(wanted: RetentionPeriods, since: PruningPosition, before: datetime) -> Iterator[WalkBatch]:
    """Yield batches of the expired roots that ended before a time, ordered by their end times."""
    told = parameters(wanted.terms, wanted.scope, wanted.now)
    while True:
        place = {"at": since.at, "id": since.id, "before": before, "chunk": CHUNK}
        rows = statements.fetch("prune_expired_roots", told | place)
        if not rows:
            return
        since = PruningPosition(rows[-1][1], rows[-1][0])
        yield WalkBatch({pk: at for pk, at, over in rows if over}, since)


def families(
    roots: Sequence[UUID],
    wanted: RetentionPeriods,
    before: datetime,
    *,
    without: LettersGone = NONE_GONE,
) -> list[Family]:
    """Return the families of these roots, unordered; ignore the dead letters in `without`."""
    return _stored(_families(roots, wanted, before, without=without, most=MEMBERS))


def expired(
    wanted: RetentionPeriods, since: PruningPosition, most: int = MEMBERS
) -> Iterator[tuple[list[Family], PruningPosition]]:
    """Yield the families that may be deleted, and the position reached.

    The function does not check whether plugins have stored the families elsewhere. `members` of a
    family has at most `most` executions.
    """
    before = horizon(wanted)
    if before is None:
        return
    for stretch in walk(wanted, since, before):
        free: list[Family] = []
        for roots in _some(stretch.roots):
            found = _families(roots, wanted, before, without=NONE_GONE, most=most)
            free += [family for family in found if not family.reason]
        yield free, stretch.end


def _families(
    roots: Sequence[UUID],
    wanted: RetentionPeriods,
    before: datetime,
    *,
    without: LettersGone,
    most: int,
) -> list[Family]:
    found = statements.fetch(
        "prune_families",
        parameters(wanted.terms, wanted.scope, wanted.now)
        | {"roots": list(roots), "before": before, "most": most}
        | {"expired": without.expired, "resolved": without.resolved, "held": list(without.held)},
    )
    return [
        Family(root, size, runs, REASONS.get(reason, ""), tuple(members))
        for root, size, runs, reason, members in found
    ]


def _stored(found: list[Family]) -> list[Family]:
    """Return the families; a family that a plugin has not stored yet gets a reason to be kept."""
    free = [pk for family in found if not family.reason for pk in family.members]
    if not free:
        return found
    kept = not_stored(WorkflowExecution.objects.filter(pk__in=free))
    return [
        family
        if family.reason or kept.isdisjoint(family.members)
        else replace(family, reason=NOT_STORED)
        for family in found
    ]


RUNS_AT_ONCE = 5_000
ASKED_AT_ONCE = 200


def prune(
    wanted: RetentionPeriods, pace: PruningPace, since: PruningPosition
) -> tuple[PruningTally, PruningPosition | None]:
    """Delete executions until the time limit; return the tally and the position to continue from.

    The position is None if the walk is complete.
    """
    tally = PruningTally("executions")
    before = horizon(wanted)
    if before is None:
        return tally, None
    partitions = RunPartitions.of(wanted)
    for released in partitions.released():
        bulk.clear(released, wanted, before, pace, tally)
        if tally.more:
            return tally, since
    for stretch in walk(wanted, since, before):
        clear(partitions.due(stretch.roots), wanted, before, pace, tally, partitions)
        if tally.more:
            return tally, since
        since = stretch.end
        if pace.over:
            tally.more = True
            return tally, since
    tally.parts["partitions"] += len(partitions.drop())
    return tally, None


def clear(
    ends: dict[UUID, datetime],
    wanted: RetentionPeriods,
    before: datetime,
    pace: PruningPace,
    tally: PruningTally,
    partitions: RunPartitions | None = None,
) -> None:
    """Delete the families of these roots, if they may be deleted, until the time limit.

    `ends` maps each root to the time at which it ended.
    """
    partitions = partitions or RunPartitions(wanted)
    for roots in _some(ends):
        found = families(roots, wanted, before)
        _note_kept(tally, found)
        for pack in packs([family for family in found if not family.reason], pace.batch):
            _drop(pack, wanted, before, pace, tally, ends, partitions)
            if pace.over:
                tally.more = True
                return


def look_at(
    ends: dict[UUID, datetime],
    wanted: RetentionPeriods,
    before: datetime,
    tally: PruningTally,
    without: LettersGone = NONE_GONE,
) -> set[UUID]:
    """Add the rows that `clear` would delete to `tally`; return the IDs of the roots to keep."""
    kept: set[UUID] = set()
    for roots in _some(ends):
        found = families(roots, wanted, before, without=without)
        _note_kept(tally, found)
        for family in found:
            if family.reason:
                kept.add(family.root)
            else:
                _note(tally, family.size, family.runs, ends[family.root])
    return kept


def look(wanted: RetentionPeriods, pace: PruningPace, without: LettersGone) -> PruningTally:
    """Return the tally of the rows that `prune` would delete if it started from the beginning."""
    tally = PruningTally("executions")
    before = horizon(wanted)
    if before is None:
        return tally
    partitions = RunPartitions.of(wanted)
    for stretch in walk(wanted, PruningPosition(), before):
        look_at(partitions.due(stretch.roots), wanted, before, tally, without)
        if pace.over:
            tally.more = True
            break
    return tally


def packs(found: Sequence[Family], most: int) -> Iterator[list[Family]]:
    """Yield groups of families that fit into one transaction; a larger family is a group by itself.

    This function is pure.
    """
    pack: list[Family] = []
    size = runs = 0
    for family in found:
        if pack and (size + family.size > most or runs + family.runs > RUNS_AT_ONCE):
            yield pack
            pack, size, runs = [], 0, 0
        pack.append(family)
        size, runs = size + family.size, runs + family.runs
    if pack:
        yield pack


def _drop(
    pack: list[Family],
    wanted: RetentionPeriods,
    before: datetime,
    pace: PruningPace,
    tally: PruningTally,
    ends: dict[UUID, datetime],
    partitions: RunPartitions,
) -> None:
    """Delete a pack of families, in as many transactions as necessary, while there is time."""
    while pack:
        with pace.transaction():
            pack = _locked(pack, wanted, before)
            gone = _delete(pack, pace.batch, partitions)
        if not gone.total():
            return
        _note(tally, gone["executions"], gone["runs"], *(ends[one.root] for one in pack))
        # Families that did not fit into the batch still have rows to delete; the other families are
        # done.
        pack = [family for family in pack if not _fits(family, pace.batch)]
        if pace.over:
            return
        pack = families([family.root for family in pack], wanted, before) if pack else []


def _fits(family: Family, most: int) -> bool:
    return family.whole and family.size <= most and family.runs <= RUNS_AT_ONCE


def _locked(pack: list[Family], wanted: RetentionPeriods, before: datetime) -> list[Family]:
    """Lock the families; return those that may still be deleted, and leave the others for later."""
    ids = [pk for family in pack for pk in family.members]
    rows = statements.fetch("prune_lock", {"ids": ids})
    held = {pk for pk, _ in rows}
    forks = WorkflowExecution.objects.filter(origin_id__in=ids).values_list("pk", "origin_id")
    torn = {origin for fork, origin in forks if fork not in held}
    sure = families([family.root for family in pack if family.root in held], wanted, before)
    return [
        family
        for family in sure
        if not family.reason and held.issuperset(family.members) and torn.isdisjoint(family.members)
    ]


def _delete(pack: list[Family], most: int, partitions: RunPartitions) -> Counter[str]:
    """Delete at most `most` executions and their runs; return how many of each.

    If the executions together have more than RUNS_AT_ONCE runs, only that many runs are deleted,
    and the executions remain for a later call.
    """
    # `members` lists executions without children first, because the rest of a family may need its
    # parents.
    ids = [pk for family in pack for pk in family.members][:most]
    if not ids:
        return Counter()
    for model in BELONGINGS:
        delete_without_cascade(model.objects.filter(execution_id__in=ids))
    own = partitions.without_runs(ids)
    some = Run.objects.filter(execution_id__in=own).values("pk")[:RUNS_AT_ONCE]
    gone = Run.objects.filter(pk__in=some, execution_id__in=own)
    runs = delete_without_cascade(gone) if own else 0
    if runs == RUNS_AT_ONCE and Run.objects.filter(execution_id__in=own).exists():
        return Counter(runs=runs)
    RefusedMessage.objects.filter(execution_id__in=ids).update(execution=None)
    WorkflowExecution.objects.filter(origin_id__in=ids).update(origin=None)
    executions = delete_without_cascade(WorkflowExecution.objects.filter(pk__in=ids))
    return Counter(executions=executions, runs=runs)


def _some(roots: Iterable[UUID]) -> Iterator[list[UUID]]:
    """Yield the roots in small batches."""
    rest = iter(roots)
    while some := list(islice(rest, ASKED_AT_ONCE)):
        yield some


def _note(tally: PruningTally, executions: int, runs: int, *ends: datetime) -> None:
    tally.rows += executions
    tally.parts["runs"] += runs
    tally.span(min(ends, default=None), max(ends, default=None))


def _note_kept(tally: PruningTally, found: Sequence[Family]) -> None:
    tally.kept.update(family.reason for family in found if family.reason)
