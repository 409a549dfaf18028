"""The duty that drives redrives: settle ended items, stop or finish, and send at the set pace.

Each run of the duty is a turn, usually of less than a second; if there is more to do, the next turn
is requested at once. After a crash, the next turn continues from the rows.
"""

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions.public.database import AdvisoryLock, alone, transaction
from executions.public.models import FINAL, ExecutionState
from valkyr_plugins.redrive import items, lifecycle, progress, rules, statements
from valkyr_plugins.redrive.items import Ended
from valkyr_plugins.redrive.models import ItemState, Redrive, RedriveScope, RedriveState
from valkyr_plugins.redrive.sending import Batch, send_batch, send_one

# Maximum number of sent entries whose results are read at once.
WINDOW = 1_000
State = ExecutionState


@dataclass(frozen=True, slots=True)
class Settled:
    """The number of items that ended, and whether more items must be checked."""

    ended: int = 0
    more: bool = False


def settle(redrive_id: UUID) -> Settled:
    """Settle a redrive's ended items; stop it after too many failures, or finish it.

    A running redrive is finished when its last item has ended. Each call checks the next window of
    items; after the last window, the next call checks the first. So slow items do not delay others.
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
            # This window contained all running entries, so correct the counter: an entry may have
            # been deleted meanwhile.
            redrive.running = len(found) - len(ended)
        _remember(redrive, ended)
        redrive.busy = redrive.state == RedriveState.RUNNING or redrive.running > 0
        items.save(redrive)
        _stop_or_go_on(redrive)
    return Settled(len(ended), redrive.settled_to > 0)


def _window(redrive: Redrive) -> list[tuple[Any, ...]]:
    steps = redrive.scope == RedriveScope.STEP
    return statements.fetch(
        "sent_step_states" if steps else "sent_execution_states",
        {"redrive": redrive.pk, "after": redrive.settled_to, "most": WINDOW},
    )


def _judge(redrive: Redrive, row: Sequence[Any]) -> Ended | None:
    return judge_step(*row) if redrive.scope == RedriveScope.STEP else judge_execution(*row)


def judge_step(  # noqa: PLR0911 - one line a case
    item: int, again: UUID | None, execution: str, present: str | None, undone: bool
) -> Ended | None:
    """Return the result of a step; None until the step has ended.

    `again` is the ID of the step's new dead letter. `present` is the state of its live, successful
    or skipped run. `undone` is true if a roll-back removed the run that the redrive started.
    """
    if again is not None:
        return Ended(item, ItemState.FAILED_AGAIN, again_id=again)
    if present in {"SUCCESS", "SKIPPED"}:
        return Ended(item, ItemState.SUCCEEDED)
    if execution == State.TIMEOUT:
        return Ended(item, ItemState.FAILED_AGAIN, "The execution's time was over.")
    if execution == State.CANCELLED:
        return Ended(item, ItemState.SKIPPED, "The execution was cancelled.")
    if present is not None:
        return None
    if undone:
        return Ended(item, ItemState.SKIPPED, "The execution was rolled back.")
    return Ended(item, ItemState.FAILED_AGAIN, "It failed and took its error edge.")


def judge_execution(item: int, again: UUID | None, execution: str) -> Ended | None:
    """Return the result of a new execution; None until the execution has ended.

    `again` is the ID of the execution's first dead letter.
    """
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
    redrive.recent = rules.remembered(redrive.recent, text, progress.standing(redrive))


def _stop_or_go_on(redrive: Redrive) -> None:
    if redrive.state != RedriveState.RUNNING:
        return
    reason = rules.reason_to_stop(progress.standing(redrive))
    nothing_left = redrive.running == 0 and not items.queued(redrive, after=0, most=1)
    if nothing_left:
        lifecycle.finish(redrive)
    elif reason is not None:
        lifecycle.stop(redrive, reason)


log = logging.getLogger(__name__)

TURN_SECONDS = 0.4
SETTLE_SECONDS = 0.1
# A turn ends after this many times its duration, even if some redrives have had no share.
MOST_SHARES = 3
# Maximum number of redrives in progress that one turn checks.
MOST = 100
# The last redrive that this process handled; the next turn begins with the redrive after it.
_last = UUID(int=0)


@dataclass(slots=True)
class Turn:
    """The number of items settled, sent or skipped; `more` asks for the next turn at once."""

    moved: int = 0
    more: bool = False


def drive() -> int:
    """Continue redrives that have work; return how many items were settled, sent or skipped."""
    return turn().moved


def drive_alone() -> Turn:
    """Run a turn, unless another process holds the session lock, which a crash releases."""
    with alone(AdvisoryLock.REDRIVE_DRIVER) as free:
        return turn() if free else Turn()


def turn(seconds: float = TURN_SECONDS) -> Turn:
    """Continue at most 100 redrives that have work, each for an equal share of the time.

    Each redrive gets at least one batch, unless the turn has already taken three times `seconds`.
    The next turn begins with the redrive after the last one of this turn.
    """
    global _last  # noqa: PLW0603 - one a process
    done = Turn()
    ids = _under_way()
    share = seconds / max(1, len(ids))
    until = time.monotonic() + MOST_SHARES * seconds
    for redrive_id in ids:
        if time.monotonic() > until:
            done.more = True
            break
        _last = redrive_id
        try:
            found = carry_on(redrive_id, time.monotonic() + share)
        except Exception:
            log.exception("redrive %s could not continue; it will be tried again", redrive_id)
        else:
            done.moved += found.moved
            done.more |= found.more
    return done


def carry_on(redrive_id: UUID, until: float) -> Turn:
    """Settle items, then send at least one batch, and more until the monotonic time `until`."""
    done = Turn(moved=_settle(redrive_id))
    after = 0
    while True:
        batch = send_batch(redrive_id, after)
        if batch is None or batch.last is None:
            return done
        done.moved += batch.sent + batch.skipped
        moved, held_back = _one_by_one(redrive_id, batch, until)
        done.moved += moved
        if held_back:
            return done
        after = batch.last
        if time.monotonic() >= until:
            done.more = batch.sent + batch.skipped + moved > 0
            return done


def _settle(redrive_id: UUID) -> int:
    """Settle at least one window of items, and more for up to 0.1 s; return how many ended."""
    until = time.monotonic() + SETTLE_SECONDS
    found = settle(redrive_id)
    ended = found.ended
    while found.more and time.monotonic() < until:
        found = settle(redrive_id)
        ended += found.ended
    return ended


def _one_by_one(redrive_id: UUID, batch: Batch, until: float) -> tuple[int, bool]:
    """Send the items that must be sent one by one, until the monotonic time `until`.

    Return how many were sent or skipped, and whether the redrive cannot send more items now.
    """
    moved = 0
    for item in batch.one_by_one:
        found = send_one(redrive_id, item)
        if found is None:
            return moved, True
        moved += found
        if time.monotonic() >= until:
            break
    return moved, False


def _under_way() -> list[UUID]:
    """Return the IDs of the next 100 redrives with work; after the newest comes the oldest."""
    rows = statements.fetch("next_busy_redrives", {"after": _last, "most": MOST})
    return [redrive_id for (redrive_id,) in rows]
