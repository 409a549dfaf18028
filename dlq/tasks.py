"""Celery's way in."""

from executions import messaging
from executions.messaging import broker_priority, task


@task("dlq.expire")
def expire() -> dict[str, int]:
    """Once a day, and again while there is more: delete what is past its time."""
    from dlq.retention import pruning

    turn = pruning.turn()
    if turn.more:
        # Behind all other duties.
        messaging.send(
            expire.name, (), messaging.CONTROL, expires=3600.0, priority=broker_priority(0)
        )
    return turn.counts


@task("dlq.tally")
def tally() -> dict[str, int]:
    """Each second: count what failed, group by group."""
    from dlq.groups.tally import turn

    return turn()


@task("dlq.pulse")
def pulse() -> None:
    """Every five seconds: note that beat ticks."""
    from dlq.pulse import beat

    beat()
