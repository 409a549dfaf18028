"""The duty that carries redrives on: settle what ended, stop or finish, send what the pace allows.

A turn takes well under a second and asks for another at once where there is more to do. Whoever
dies in the middle leaves rows that the next turn goes on from.
"""

import logging
import time
from dataclasses import dataclass
from uuid import UUID

from executions.public.database import AdvisoryLock, alone
from valkyr_plugins.redrive.models import Redrive
from valkyr_plugins.redrive.one_by_one import send_one
from valkyr_plugins.redrive.sending import Batch, send_batch
from valkyr_plugins.redrive.settling import settle

log = logging.getLogger(__name__)

TURN_SECONDS = 0.4
SETTLE_SECONDS = 0.1
# Redrives under way that one turn looks at; the next one begins behind them.
MOST = 100


@dataclass(slots=True)
class Turn:
    """How many entries moved, and whether more could at once."""

    moved: int = 0
    more: bool = False


def drive() -> int:
    """Carry every redrive on for a moment; returns how many entries moved."""
    return turn().moved


def drive_alone() -> Turn:
    """A turn, unless somebody else is at one: a session's lock, which dies with its holder."""
    with alone(AdvisoryLock.REDRIVE_DRIVER) as free:
        return turn() if free else Turn()


def turn(seconds: float = TURN_SECONDS) -> Turn:
    """Give each redrive under way its share of the turn's time, the longest waiting first."""
    done = Turn()
    ids = _under_way()
    share = seconds / max(1, len(ids))
    for redrive_id in ids:
        try:
            found = carry_on(redrive_id, time.monotonic() + share)
        except Exception:
            log.exception("redrive %s could not be carried on just now", redrive_id)
        else:
            done.moved += found.moved
            done.more |= found.more
    return done


def carry_on(redrive_id: UUID, until: float) -> Turn:
    """Settle and send until a time of `time.monotonic()`, but once at least."""
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
    """Settle a window, and further ones for a moment; how many ended."""
    until = time.monotonic() + SETTLE_SECONDS
    found = settle(redrive_id)
    ended = found.ended
    while found.more and time.monotonic() < until:
        found = settle(redrive_id)
        ended += found.ended
    return ended


def _one_by_one(redrive_id: UUID, batch: Batch, until: float) -> tuple[int, bool]:
    """Send what cannot go together; how many moved, and whether a limit stands in the way."""
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
    """Redrives with something to look after; turns begin with another one each second."""
    rows = Redrive.objects.filter(busy=True).order_by("pk").values_list("pk", flat=True)
    ids = list(rows[:MOST])
    first = int(time.time()) % len(ids) if ids else 0
    return ids[first:] + ids[:first]
