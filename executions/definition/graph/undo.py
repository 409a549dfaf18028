"""Compensation: decide which undo step runs next, from the rows.

This module does no I/O. Tasks that succeeded are undone one after another, starting with the last
that ended. A permanently failed undo step stops the rest until a user requeues, fixes or skips it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from executions.definition.graph.places import undo_path


class UndoStatus(StrEnum):
    """The state of an undo step, according to its rows."""

    DUE = "due"
    LIVE = "live"
    DEAD = "dead"
    OVER = "over"  # it succeeded, or a user skipped it


@dataclass(frozen=True, slots=True, order=True)
class Succeeded:
    """A task that succeeded: when its last step ended, and the path of that step.

    `ended` is sortable: a time, then the run's ID.
    """

    ended: tuple[object, ...]
    path: str


class UndoMove(StrEnum):
    """The next action of a compensation."""

    START = "start"
    WAIT = "wait"
    STOP = "stop"
    END = "end"


@dataclass(frozen=True, slots=True)
class UndoPlan:
    """The next action, and the path of the undo step that it concerns; the path is "" for END."""

    move: UndoMove
    path: str = ""


MOVES = {
    UndoStatus.DUE: UndoMove.START,
    UndoStatus.LIVE: UndoMove.WAIT,
    UndoStatus.DEAD: UndoMove.STOP,
}


def undo_order(succeeded: Iterable[Succeeded]) -> list[str]:
    """Return the paths of these tasks' undo steps, in the order in which they run."""
    return [undo_path(one.path) for one in sorted(succeeded, reverse=True)]


def status(states: Iterable[str]) -> UndoStatus:
    """Return an undo step's status from the states of its attempts, in any order.

    At most one attempt is live or successful: the last attempt.
    """
    found = set(states)
    if found & {"SUCCESS", "SKIPPED"}:
        return UndoStatus.OVER
    if found & {"PENDING", "LEASED", "RUNNING", "WAITING"}:
        return UndoStatus.LIVE
    return UndoStatus.DEAD if "DLQ" in found else UndoStatus.DUE


def next_undo(order: Iterable[tuple[str, UndoStatus]]) -> UndoPlan:
    """Return the action for the first ordered undo step that is not over; END if all are over."""
    for path, found in order:
        if found is not UndoStatus.OVER:
            return UndoPlan(MOVES[found], path)
    return UndoPlan(UndoMove.END)
