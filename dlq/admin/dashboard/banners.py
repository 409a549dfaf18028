"""What somebody should do something about at once, above all else, with what to do."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from dlq.admin.dashboard.gathering import Facts
from executions.admin import marks
from runners.figures.queues import Queue, command_for
from runners.models import Runner

QUIET = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Banner:
    """A sentence, and the command that mends it; `urgent` ones are told in red."""

    text: str
    command: str = ""
    urgent: bool = True


def banners(kept: Facts, now: datetime) -> list[Banner]:
    """No workers at all, or else queues whose work nobody takes; hours that are not counted."""
    silent = _silent(kept["workers"], now)
    found = (
        [silent]
        if silent
        else [_unserved(one, now) for one in kept["queues"] or [] if one.unserved(now)]
    )
    figures = kept["figures"]
    if figures and figures.uncounted and kept["any"]:
        found.append(_uncounted(figures.uncounted))
    if figures and figures.capped:
        text = "More ended than can be counted at once: the newest numbers are too low."
        found.append(Banner(text, urgent=False))
    return found


def _silent(workers: list[Runner], now: datetime) -> Banner | None:
    own = [one.seen_at for one in workers if one.pool != "remote" and one.leaving_at is None]
    if own and now - max(own) <= QUIET:
        return None
    if not own:
        return Banner("No worker has reported: nothing runs until one does. Start all:", "make up")
    text = f"Workers have not reported for {marks.span(now - max(own))}. Start them all:"
    return Banner(text, "make up")


def _unserved(queue: Queue, now: datetime) -> Banner:
    since = marks.span(now - queue.oldest) if queue.oldest else ""
    more = "+" if queue.capped else ""
    steps = "step waits" if queue.waiting == 1 else "steps wait"
    return Banner(
        f"{queue.waiting:,}{more} {steps} in the queue {queue.name!r}, the first for {since}, and "
        f"no worker takes them. Start one:",
        command_for(queue.name),
    )


def _uncounted(hours: int) -> Banner:
    what = "One hour is" if hours == 1 else f"{hours:,} hours are"
    return Banner(
        f"{what} still to be counted and shown as empty. A duty of the worker 'control' does it, "
        "the newest first.",
        urgent=False,
    )
