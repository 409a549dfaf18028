"""What somebody should do something about at once, above all else, with what to do."""

from datetime import datetime, timedelta

from dlq.admin.dashboard.blocks import Banner
from dlq.admin.dashboard.gathering import Facts
from executions.admin import marks
from runners.models import Runner
from runners.workers.queues import Queue, command_for

QUIET = timedelta(minutes=2)


def banners(kept: Facts, now: datetime) -> list[Banner]:
    """No workers at all, or else queues whose work nobody takes."""
    silent = _silent(kept["workers"], now)
    if silent:
        return [silent]
    return [_unserved(one, now) for one in kept["queues"] or [] if one.unserved(now)]


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
