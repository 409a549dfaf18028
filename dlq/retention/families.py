"""Which executions may go: whole families, a root with all that it started, and never a part.

A family goes when each of its members has ended and its time is over, no dead letter of it is left
(open and pinned ones stay), no dead letter points at it, and no fork under way began from it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from dlq import statements
from dlq.retention.terms import parameters, youngest_end
from dlq.retention.wanted import Wanted

CHUNK = 2_000
REASONS = {
    5: "something they started is under way",
    4: "something they started is to be kept longer",
    3: "open dead letters",
    2: "dead letters that are pinned or whose time is not over",
    1: "forks under way that began from them",
}
MEMBERS = 500
START = datetime(1970, 1, 1, tzinfo=UTC)
NOBODY = UUID(int=0)
# Plugins that read executions add a function of the time: it returns the end of the first execution
# that they still need, and no execution that ended later is deleted.
HORIZONS: list[Callable[[datetime], datetime]] = []


@dataclass(frozen=True, slots=True)
class Family:
    """A root and what it started; `reason` says why it stays, "" where it may go.

    `members` are those without children first, 500 at most; `size` and `runs` count all.
    """

    root: UUID
    size: int
    runs: int
    reason: str
    members: tuple[UUID, ...]

    @property
    def whole(self) -> bool:
        """Whether `members` are all."""
        return self.size == len(self.members)


@dataclass(frozen=True, slots=True)
class PruningPosition:
    """How far a walk has come: the end, and the id, of the last execution that it looked at."""

    at: datetime = START
    id: UUID = NOBODY


@dataclass(frozen=True, slots=True)
class LettersGone:
    """Dead letters that count as gone, since they go before executions do.

    Resolved ones that expired by the first or were resolved before the second time, but for those
    that are `held`.
    """

    expired: datetime | None = None
    resolved: datetime | None = None
    held: tuple[UUID, ...] = ()


NONE_GONE = LettersGone()


@dataclass(frozen=True, slots=True)
class WalkBatch:
    """A piece of a walk: the roots whose time is over, with their ends, and where it ended."""

    roots: dict[UUID, datetime]
    end: PruningPosition


def horizon(wanted: Wanted) -> datetime | None:
    """Nothing that ended later is deleted: by the terms, and by what plugins still need."""
    youngest = youngest_end(wanted.terms, wanted.now)
    if youngest is None:
        return None
    return min([youngest, *(needed_since(wanted.now) for needed_since in HORIZONS)])


def walk(wanted: Wanted, since: PruningPosition, before: datetime) -> Iterator[WalkBatch]:
    """The finished executions that ended before a time, in the order of their ends."""
    told = parameters(wanted.terms, wanted.scope, wanted.now)
    while True:
        place = {"at": since.at, "id": since.id, "before": before, "chunk": CHUNK}
        rows = statements.fetch("prune_walk", told | place)
        if not rows:
            return
        since = PruningPosition(rows[-1][1], rows[-1][0])
        yield WalkBatch({pk: at for pk, at, over in rows if over}, since)


def families(
    roots: Sequence[UUID],
    wanted: Wanted,
    before: datetime,
    *,
    without: LettersGone = NONE_GONE,
) -> list[Family]:
    """The families of these roots, in no order, as if the dead letters `without` were gone."""
    found = statements.fetch(
        "prune_families",
        parameters(wanted.terms, wanted.scope, wanted.now)
        | {"roots": list(roots), "before": before, "most": MEMBERS}
        | {"expired": without.expired, "resolved": without.resolved, "held": list(without.held)},
    )
    return [
        Family(root, size, runs, REASONS.get(reason, ""), tuple(members))
        for root, size, runs, reason, members in found
    ]
