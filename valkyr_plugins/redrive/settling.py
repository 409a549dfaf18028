"""What became of the entries that were sent is read off the rows, a bounded window at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction

from executions.public.models import FINAL, ExecutionState
from valkyr_plugins.redrive import items, lifecycle, pacing, rules, statements
from valkyr_plugins.redrive.items import Ended
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.states import ItemState, RedriveScope, RedriveState

WINDOW = 1_000
State = ExecutionState


@dataclass(frozen=True, slots=True)
class Settled:
    """How many ended, and whether there are more to look at."""

    ended: int = 0
    more: bool = False


def settle(redrive_id: UUID) -> Settled:
    """Take what ended off a redrive; stop it if too much failed again, end it with its last.

    Each call looks at the window behind the last one, and begins anew at the end, so that entries
    that take long hide nobody behind them.
    """
    with transaction.atomic():
        redrive = items.claimed(redrive_id)
        if redrive is None:
            return Settled()
        began = redrive.settled_to
        found = _window(redrive)
        ended = [end for row in found if (end := _judge(redrive, row)) is not None]
        redrive.settled_to = found[-1][0] if len(found) == WINDOW else 0
        items.end(redrive, ended)
        if began == 0 and len(found) < WINDOW:
            # All there are were looked at. An entry may have been deleted in the meantime.
            redrive.running = len(found) - len(ended)
        _remember(redrive, ended)
        redrive.busy = redrive.state == RedriveState.RUNNING or redrive.running > 0
        items.save(redrive)
        _stop_or_go_on(redrive)
    return Settled(len(ended), redrive.settled_to > 0)


def _window(redrive: Redrive) -> list[tuple[Any, ...]]:
    steps = redrive.scope == RedriveScope.STEP
    return statements.fetch(
        "steps" if steps else "executions",
        {"redrive": redrive.pk, "after": redrive.settled_to, "most": WINDOW},
    )


def _judge(redrive: Redrive, row: Sequence[Any]) -> Ended | None:
    return judge_step(*row) if redrive.scope == RedriveScope.STEP else judge_execution(*row)


def judge_step(  # noqa: PLR0911 - one line a case
    item: int, again: UUID | None, execution: str, present: str | None, undone: bool
) -> Ended | None:
    """What became of a step; None while it is under way.

    `present` is the state of its live or finished run, `undone` whether a roll-back took the new
    run away.
    """
    if again is not None:
        return Ended(item, ItemState.FAILED_AGAIN, again_id=again)
    if present in {"SUCCESS", "SKIPPED"}:
        return Ended(item, ItemState.SUCCEEDED)
    if execution == State.TIMEOUT:
        return Ended(item, ItemState.FAILED_AGAIN, "The execution's time was over.")
    if execution == State.CANCELLED:
        return Ended(item, ItemState.SKIPPED, "Its execution was cancelled.")
    if present is not None:
        return None
    if undone:
        return Ended(item, ItemState.SKIPPED, "Its execution was rolled back.")
    return Ended(item, ItemState.FAILED_AGAIN, "It failed, and its error edge was taken.")


def judge_execution(item: int, again: UUID | None, execution: str) -> Ended | None:
    """What became of a new execution, whose first dead letter is `again`; None while it runs."""
    if execution not in FINAL:
        return None
    if execution == State.SUCCESS:
        return Ended(item, ItemState.SUCCEEDED)
    if execution == State.CANCELLED:
        return Ended(item, ItemState.SKIPPED, "The new execution was cancelled.")
    reason = "" if again else f"The new execution is {execution}."
    return Ended(item, ItemState.FAILED_AGAIN, reason, again)


def _remember(redrive: Redrive, ended: Sequence[Ended]) -> None:
    letters = {ItemState.SUCCEEDED: rules.GOOD, ItemState.FAILED_AGAIN: rules.BAD}
    text = "".join(letters.get(end.state, "") for end in ended)
    redrive.recent = rules.remembered(redrive.recent, text, pacing.standing(redrive))


def _stop_or_go_on(redrive: Redrive) -> None:
    if redrive.state != RedriveState.RUNNING:
        return
    reason = rules.reason_to_stop(pacing.standing(redrive))
    nothing_left = redrive.running == 0 and not items.queued(redrive, after=0, most=1)
    if nothing_left:
        lifecycle.finish(redrive)
    elif reason is not None:
        lifecycle.stop(redrive, reason)
