"""Choose the next iterations of a container from the counters of its waiting run.

This module does no I/O.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

# Maximum number of items of a pure body that run at once. Workers run such items one after another
# in memory, so a few workers are best.
LANES = 4
BATCH = 64


@dataclass(frozen=True, slots=True)
class LoopTurns:
    """The state of a loop: iteration `index` of `count` or, with a condition, of at most `most`."""

    index: int
    count: int | None = None
    most: int = 0

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "LoopTurns":
        """Return the state that a run's `progress` describes."""
        return cls(document["index"], document.get("count"), document.get("most", 0))

    def document(self) -> dict[str, Any]:
        """Return the state as it is stored in a run's `progress`."""
        bound = {"most": self.most} if self.count is None else {"count": self.count}
        return {"index": self.index, **bound}

    @property
    def places(self) -> tuple[int, ...]:
        """Return the indexes of the open iterations."""
        return (self.index,)


@dataclass(frozen=True, slots=True)
class MapTurns:
    """The state of a map: items from `next` on have not been handed out to workers.

    Items in `open` are handed out and have not ended. Items in `spare` are below `next`, but wait
    to be handed out. At most `wide` items run at the same time. `failed` is the first failed item
    if failures stop the map; then items start only after a roll-back (`begun_again`).
    """

    total: int
    wide: int
    next: int = 0
    open: tuple[int, ...] = ()
    spare: tuple[int, ...] = ()
    failed: int | None = None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "MapTurns":
        """Return the state that a run's `progress` describes."""
        return cls(
            document["total"],
            document["wide"],
            document["next"],
            tuple(document["open"]),
            tuple(document.get("spare", ())),
            document.get("failed"),
        )

    def document(self) -> dict[str, Any]:
        """Return the state for a run's `progress`, in a short form: every iteration writes it."""
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
        """Return the indexes of the open items."""
        return self.open

    @property
    def waiting(self) -> int:
        """Return how many items have not started."""
        return self.total - self.next + len(self.spare)

    @property
    def over(self) -> bool:
        """Return whether no item is open, and none will start."""
        return not self.open and (self.failed is not None or not self.waiting)

    def closed(self, ended: Iterable[int]) -> "MapTurns":
        """Return the state without the ended items, which may be open or spare."""
        gone = set(ended)
        return replace(
            self,
            open=tuple(index for index in self.open if index not in gone),
            spare=tuple(index for index in self.spare if index not in gone),
        )

    def begun(self, indexes: Iterable[int]) -> "MapTurns":
        """Return the state after workers started these items: spare items become open."""
        taken = {*indexes} & {*self.spare}
        return replace(
            self,
            open=(*self.open, *sorted(taken)),
            spare=tuple(index for index in self.spare if index not in taken),
        )

    def given_back(self, unstarted: Iterable[int]) -> "MapTurns":
        """Return the state after workers returned open items unstarted: these become spare."""
        back = set(unstarted) & set(self.open)
        return replace(self.closed(back), spare=tuple(sorted({*self.spare, *back})))

    def begun_again(self, set_back: Iterable[int]) -> tuple["MapTurns", tuple[int, ...]]:
        """Start reset and spare items, up to the limit; return the state and the started items.

        `set_back` are items that a roll-back reset; they start even if an item has failed since.
        """
        known = {*self.spare, *(index for index in set_back if self.next <= index < self.total)}
        again = tuple(sorted(known))[: self.free]
        upto = max([self.next, *(index + 1 for index in again)])
        spare = {*self.spare, *range(self.next, upto)} - {*again}
        opened = (*self.open, *again)
        return replace(self, next=upto, open=opened, spare=tuple(sorted(spare))), again

    @property
    def free(self) -> int:
        """Return how many more items can be open at the same time."""
        return max(0, self.wide - len(self.open))

    def handed_out(self, count: int) -> tuple["MapTurns", tuple[int, ...]]:
        """Start up to `count` more items; return the new state and these items.

        No items start after a failure.
        """
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
    """Return how many items can run at the same time: for a pure body, at most LANES."""
    return min(max_concurrency, LANES) if pure else max_concurrency


def batch(turns: MapTurns) -> int:
    """Return how many items of a pure body a worker gets as one batch; fewer towards the end."""
    return max(1, min(BATCH, turns.waiting // (2 * turns.wide)))
