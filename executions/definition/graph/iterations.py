"""Whose turn is next in a container: pure decisions over the counters its waiting run keeps."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

# A pure body is run item after item in memory, so a few workers at a time serve it best.
LANES = 4
BATCH = 64


@dataclass(frozen=True, slots=True)
class LoopTurns:
    """A loop is in its iteration `index` of `count`; of at most `most` where it has a condition."""

    index: int
    count: int | None = None
    most: int = 0

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "LoopTurns":
        """From a run's `progress`."""
        return cls(document["index"], document.get("count"), document.get("most", 0))

    def document(self) -> dict[str, Any]:
        """For a run's `progress`."""
        bound = {"most": self.most} if self.count is None else {"count": self.count}
        return {"index": self.index, **bound}

    @property
    def places(self) -> tuple[int, ...]:
        """The indexes under way."""
        return (self.index,)


@dataclass(frozen=True, slots=True)
class MapTurns:
    """Items below `next` were handed out; `open` are under way, `spare` handed back unstarted.

    At most `wide` are under way. `failed` is the first item that failed where the map minds:
    nothing more is handed out then.
    """

    total: int
    wide: int
    next: int = 0
    open: tuple[int, ...] = ()
    spare: tuple[int, ...] = ()
    failed: int | None = None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "MapTurns":
        """From a run's `progress`."""
        return cls(
            document["total"],
            document["wide"],
            document["next"],
            tuple(document["open"]),
            tuple(document.get("spare", ())),
            document.get("failed"),
        )

    def document(self) -> dict[str, Any]:
        """For a run's `progress`; short, since it is written at every turn."""
        written: dict[str, Any] = {
            "total": self.total,
            "wide": self.wide,
            "next": self.next,
            "open": list(self.open),
            "done": self.next - len(self.open) - len(self.spare),
        }
        if self.spare:
            written["spare"] = list(self.spare)
        if self.failed is not None:
            written["failed"] = self.failed
        return written

    @property
    def places(self) -> tuple[int, ...]:
        """The indexes under way."""
        return self.open

    @property
    def waiting(self) -> int:
        """How many items were not started yet."""
        return self.total - self.next + len(self.spare)

    @property
    def over(self) -> bool:
        """Whether nothing is under way and nothing is to follow."""
        return not self.open and (self.failed is not None or not self.waiting)

    def closed(self, ended: Iterable[int]) -> "MapTurns":
        """Without the items that ended, be it while they were thought to be unstarted."""
        gone = set(ended)
        return replace(
            self,
            open=tuple(index for index in self.open if index not in gone),
            spare=tuple(index for index in self.spare if index not in gone),
        )

    def begun(self, indexes: Iterable[int]) -> "MapTurns":
        """With items under way that were put aside, and that somebody has begun all the same."""
        taken = {*indexes} & {*self.spare}
        return replace(
            self,
            open=(*self.open, *sorted(taken)),
            spare=tuple(index for index in self.spare if index not in taken),
        )

    def given_back(self, unstarted: Iterable[int]) -> "MapTurns":
        """With items that were handed out and never started put aside."""
        back = set(unstarted) & set(self.open)
        return replace(self.closed(back), spare=tuple(sorted({*self.spare, *back})))

    def begun_again(self, set_back: Iterable[int]) -> tuple["MapTurns", tuple[int, ...]]:
        """With items under way again that a roll-back set back, as many as may be; and which.

        They had begun before, so that one that failed meanwhile does not keep them from their end.
        """
        known = {*self.spare, *(index for index in set_back if self.next <= index < self.total)}
        again = tuple(sorted(known))[: self.free]
        upto = max([self.next, *(index + 1 for index in again)])
        spare = {*self.spare, *range(self.next, upto)} - {*again}
        opened = (*self.open, *again)
        return replace(self, next=upto, open=opened, spare=tuple(sorted(spare))), again

    @property
    def free(self) -> int:
        """How many more may be under way now."""
        return max(0, self.wide - len(self.open))

    def handed_out(self, count: int) -> tuple["MapTurns", tuple[int, ...]]:
        """With up to `count` more items under way, and which; none once an item failed."""
        if self.failed is not None or count <= 0:
            return self, ()
        spare = self.spare[:count]
        fresh = range(self.next, min(self.total, self.next + count - len(spare)))
        given = (*spare, *fresh)
        return (
            replace(
                self,
                next=self.next + len(fresh),
                open=(*self.open, *given),
                spare=self.spare[len(spare) :],
            ),
            given,
        )


def lanes(max_concurrency: int, *, pure: bool) -> int:
    """How many items are under way at once."""
    return min(max_concurrency, LANES) if pure else max_concurrency


def batch(turns: MapTurns) -> int:
    """How many pure items one worker takes at once: many, and fewer towards the end."""
    return max(1, min(BATCH, turns.waiting // (2 * turns.wide)))
