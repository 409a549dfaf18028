"""Explain the state of an execution as a whole, from its row and additional queries."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from executions.database import statements
from executions.explain.reason import Reason, at, brief, some
from executions.models import Activity, WorkflowExecution
from executions.states import FINAL, CapacityState, CompensationState, ExecutionState

COUNTED = 10_000
WAITING = CompensationState.WAITING
ENDINGS: dict[str, str] = {
    ExecutionState.SUCCESS: "ended well",
    ExecutionState.FAILED: "failed",
    ExecutionState.CANCELLED: "was cancelled",
    ExecutionState.TIMEOUT: "ran out of time",
}


UNDONE: dict[str, str] = {
    CompensationState.DONE: " Its completed steps were undone.",
    CompensationState.FAILED: (
        " An undo step failed permanently, so the execution was only partly undone: requeue, "
        "fix or skip that step's dead letter."
    ),
}


@dataclass(frozen=True, slots=True)
class QueuePosition:
    """An execution's queue position; `ahead` and `key_ahead` are exact below 10,000.

    `limit` is the number of its workspace's slots, and `active` the number of slots in use; without
    a limit, they are None and 0. `holders` are at most five of the executions that hold its
    concurrency key, and `held` is the number of all holders.
    """

    workspace: str
    limit: int | None
    active: int
    ahead: int
    holders: tuple[UUID, ...] = ()
    held: int = 0
    key_ahead: int = 0


@dataclass(frozen=True, slots=True)
class PauseRecord:
    """The user who paused the execution, with the time and the reason."""

    by: str
    at: datetime
    reason: str = ""


def standing(
    row: WorkflowExecution, line: QueuePosition | None, pause: PauseRecord | None
) -> Reason:
    """Return the reason for a row's state, given its queue position and recorded pause, if any."""
    if row.state in FINAL:
        return _over(row)
    if row.state == ExecutionState.PENDING and line is not None:
        return _pending(row, line)
    if row.state == ExecutionState.PAUSED:
        return _waits_to_undo(row) if row.compensation == WAITING else _paused(pause)
    if row.place == CapacityState.WANTED and line is not None:
        return _woken(row, line)
    if row.place == CapacityState.FREE:
        return Reason(
            "asleep",
            "All its steps wait, so it uses no slot of its workspace.",
            until=row.deadline_at,
        )
    return _under_way(row)


def _pending(row: WorkflowExecution, line: QueuePosition) -> Reason:
    if row.place == CapacityState.ASKED:
        return Reason(
            "waiting_to_be_counted",
            "It was started within a transaction, and the hourly limit, the daily limit or "
            f"the limit of waiting executions of workspace {line.workspace} is reached. It is "
            "admitted when the limit allows it.",
            since=row.created_at,
            details=_place(row, line),
        )
    if row.concurrency_key is not None and line.held >= (row.concurrency_limit or 1):
        return _waits_for_key(row, line)
    if line.limit is not None and line.active >= line.limit:
        return Reason(
            "waiting_for_place",
            f"It waits for a slot: {line.active} of {line.limit} executions run in workspace "
            f"{line.workspace}, and {_count(line.ahead)} are before it.",
            since=row.created_at,
            until=row.deadline_at,
            details=_place(row, line),
        )
    return Reason(
        "about_to_start",
        f"It is admitted within seconds; {_count(line.ahead)} are before it.",
        since=row.created_at,
        details=_place(row, line),
    )


def _waits_for_key(row: WorkflowExecution, line: QueuePosition) -> Reason:
    holders = [str(holder) for holder in line.holders]
    return Reason(
        "waiting_for_key",
        f"It waits for its concurrency key {brief(str(row.concurrency_key))!r}, which "
        f"{some(holders, len(holders))}{_others(line)} hold; at most "
        f"{row.concurrency_limit or 1} may run at once, and {_count(line.key_ahead)} with "
        "this key are before it.",
        since=row.created_at,
        until=row.deadline_at,
        details={
            "key": row.concurrency_key,
            "limit": row.concurrency_limit or 1,
            "executionIds": holders,
            "ahead": line.key_ahead,
        },
    )


def _others(line: QueuePosition) -> str:
    more = line.held - len(line.holders)
    return f" and {more} more" if more > 0 else ""


def _woken(row: WorkflowExecution, line: QueuePosition) -> Reason:
    return Reason(
        "woken_waits_for_place",
        f"One of its steps woke, and it waits for a slot again: {line.active} of {line.limit} "
        f"executions run in workspace {line.workspace}, and {_count(line.ahead)} are before "
        "it.",
        until=row.deadline_at,
        details=_place(row, line),
    )


def _place(row: WorkflowExecution, line: QueuePosition) -> dict[str, object]:
    return {
        "workspaceId": str(row.workspace_id),
        "limit": line.limit,
        "active": line.active,
        "ahead": line.ahead,
    }


def _paused(pause: PauseRecord | None) -> Reason:
    if pause is None:
        return Reason("paused", "It is paused. No step starts until it is resumed.")
    why = f" ({brief(pause.reason)})" if pause.reason else ""
    return Reason(
        "paused",
        f"Paused by {pause.by} at {at(pause.at)}{why}. No step starts until it is resumed.",
        since=pause.at,
        details={"by": pause.by, "reason": pause.reason},
    )


def _waits_to_undo(row: WorkflowExecution) -> Reason:
    return Reason(
        "waits_to_undo",
        f"It will be undone, and then ends as {ExecutionState(row.ending).label}. It waits "
        "until running steps that have an undo step, and the executions that it started, "
        "have ended.",
        details={"ending": row.ending},
    )


def _under_way(row: WorkflowExecution) -> Reason:
    if row.compensation:
        return Reason(
            "undoing",
            "Its steps are being undone one after another, newest first. Then it ends as "
            f"{ExecutionState(row.ending).label}.",
            details={"ending": row.ending},
        )
    return Reason("running", "It is running.", since=row.started_at, until=row.deadline_at)


def _over(row: WorkflowExecution) -> Reason:
    why = f": {brief(row.error_message)}" if row.error_message else "."
    return Reason(
        "finished",
        f"It {ENDINGS[row.state]} at {at(row.finished_at)}{why}{UNDONE.get(row.compensation, '')}",
        since=row.finished_at,
    )


def _count(number: int) -> str:
    return f"{number} or more" if number >= COUNTED else str(number)


# The queries that explain an execution: its queue position, and the user who paused it.


def reason_of(row: WorkflowExecution) -> Reason:
    """Return the reason for the execution's state.

    Uses at most two queries.
    """
    return standing(row, _line(row), _pause(row))


def _line(row: WorkflowExecution) -> QueuePosition | None:
    if row.state != ExecutionState.PENDING and row.place != CapacityState.WANTED:
        return None
    found: tuple[Any, ...] | None = statements.fetch_one(
        "queue_position", {"execution": row.pk, "most": COUNTED}
    )
    if found is None:
        return None
    workspace, limit, active, ahead, holders, held, key_ahead = found
    return QueuePosition(workspace, limit, active, ahead, tuple(holders or ()), held, key_ahead)


def _pause(row: WorkflowExecution) -> PauseRecord | None:
    if row.state != ExecutionState.PAUSED:
        return None
    found = (
        Activity.objects.filter(object_id=row.pk, action="execution.pause")
        .order_by("-created_at")
        .only("actor_name", "created_at", "reason")
        .first()
    )
    return None if found is None else PauseRecord(found.actor_name, found.created_at, found.reason)
