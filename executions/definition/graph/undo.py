"""Compensation: which undo step runs next, decided from the rows. Pure.

Tasks that succeeded are undone one after another, the one that ended last first. An undo that
failed for good stops the rest, until a person requeues, fixes or skips it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from executions.definition.graph.places import undo_path


class UndoStatus(StrEnum):
    """How an undo step stands, by its rows."""

    DUE = "due"
    LIVE = "live"
    DEAD = "dead"
    OVER = "over"  # it succeeded, or a person skipped it


@dataclass(frozen=True, slots=True, order=True)
class Succeeded:
    """A task that succeeded: when its last step ended, and that step's path.

    `ended` is anything that orders: a time, then the run's id.
    """

    ended: tuple[object, ...]
    path: str


class UndoMove(StrEnum):
    """What a compensation does next."""

    START = "start"
    WAIT = "wait"
    STOP = "stop"
    END = "end"


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """The next move, and the path of the undo step that it is about; "" at the end."""

    move: UndoMove
    path: str = ""


MOVES = {
    UndoStatus.DUE: UndoMove.START,
    UndoStatus.LIVE: UndoMove.WAIT,
    UndoStatus.DEAD: UndoMove.STOP,
}


def undo_order(succeeded: Iterable[Succeeded]) -> list[str]:
    """The paths of the undo steps of these tasks, in the order in which they run."""
    return [undo_path(one.path) for one in sorted(succeeded, reverse=True)]


def status(states: Iterable[str]) -> UndoStatus:
    """An undo's status from the states of its attempts, in any order.

    At most one of them is live or successful, and none is tried after that one.
    """
    found = set(states)
    if found & {"SUCCESS", "SKIPPED"}:
        return UndoStatus.OVER
    if found & {"PENDING", "LEASED", "RUNNING", "WAITING"}:
        return UndoStatus.LIVE
    return UndoStatus.DEAD if "DLQ" in found else UndoStatus.DUE


def next_undo(order: Iterable[tuple[str, UndoStatus]]) -> UndoPlan:
    """The next move, from the undo steps in their order and how each stands."""
    for path, found in order:
        if found is not UndoStatus.OVER:
            return UndoPlan(MOVES[found], path)
    return UndoPlan(UndoMove.END)
