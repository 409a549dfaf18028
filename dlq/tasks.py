"""The Celery tasks of this app."""

from executions import messaging
from executions.messaging import broker_priority, task


@task("dlq.expire")
def expire() -> dict[str, int]:
    """Delete expired rows once a day, and again while there are more."""
    from dlq.retention import pruning

    turn = pruning.turn()
    if turn.more:
        # After all other duties.
        messaging.send(
            expire.name, (), messaging.CONTROL, expires=3600.0, priority=broker_priority(0)
        )
    return turn.counts


@task("dlq.tally")
def tally() -> dict[str, int]:
    """Count new failures every second, group by group."""
    from dlq.groups.tally import turn

    return turn()


@task("dlq.pulse")
def pulse() -> None:
    """Note, every five seconds, that beat runs."""
    from dlq.pulse import beat

    beat()
