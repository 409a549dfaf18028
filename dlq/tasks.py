"""Celery's way in."""

from celery import shared_task

from runners.dispatch.messages import broker_priority


@shared_task(name="dlq.expire")
def expire() -> dict[str, int]:
    """Once a day, and again while there is more: delete what is past its time."""
    from dlq.retention import pruning

    turn = pruning.turn()
    if turn.more:
        # Behind all other duties.
        expire.apply_async(queue="control", expires=3600.0, priority=broker_priority(0))
    return turn.counts


@shared_task(name="dlq.tally")
def tally() -> dict[str, int]:
    """Each second: count what failed, group by group."""
    from dlq.groups.tally import turn

    return turn()


@shared_task(name="dlq.pulse")
def pulse() -> None:
    """Every five seconds: note that beat ticks."""
    from dlq.pulse import beat

    beat()
