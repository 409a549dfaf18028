"""The Celery tasks of the app `dlq`."""

from executions import messaging, payload_store
from executions.messaging import broker_priority, task


@task("dlq.expire")
def expire() -> dict[str, int]:
    """Add partitions, delete expired rows and unused stored values, and repeat if any remain."""
    from dlq.retention import pruning, run_partitions

    added = run_partitions.add_ahead()
    turn = pruning.turn()
    counts, more = turn.counts | ({"partitions added": added} if added else {}), turn.more
    if payload_store.enabled():
        from executions.payload_store import collecting

        collected = collecting.collect()
        counts, more = counts | {"stored values": collected.deleted}, more or collected.more
    if more:
        # The lowest priority, so that it runs after all other duties.
        messaging.send(
            expire.name, (), messaging.CONTROL, expires=3600.0, priority=broker_priority(0)
        )
    return counts


@task("dlq.tally")
def tally() -> dict[str, int]:
    """Each second, count new failures, end snoozes and continue moves; return the three counts."""
    from dlq.groups.tally import turn

    return turn()


@task("dlq.pulse")
def pulse() -> None:
    """Record, every five seconds, that beat is running."""
    from dlq.pulse import beat

    beat()
