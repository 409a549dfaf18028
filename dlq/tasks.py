"""Celery's way in."""

from celery import shared_task

from runners.dispatch.messages import broker_priority


@shared_task(name="dlq.expire")
def expire() -> dict[str, int]:
    """Once a day, and again while there is more: delete what is past its time."""
    from dlq.retention import duty

    turn = duty.turn()
    if turn.more:
        # Behind all other duties.
        expire.apply_async(queue="control", expires=3600.0, priority=broker_priority(0))
    return turn.counts


@shared_task(name="dlq.tally")
def tally() -> dict[str, int]:
    """Each second: count what failed, group by group."""
    from dlq.groups import duty

    return duty.turn()


@shared_task(name="dlq.pulse")
def pulse() -> None:
    """Every five seconds: note that beat ticks."""
    from dlq.pulse import beat

    beat()


@shared_task(name="dlq.drive_redrives")
def drive_redrives() -> int:
    """Every second, and again at once while there is more: carry redrives on for a moment."""
    from dlq.redrive import driving

    turn = driving.drive_alone()
    if turn.more:
        drive_redrives.apply_async(queue="control", expires=5.0)
    return turn.moved


@shared_task(name="dlq.forget_redrives")
def forget_redrives() -> int:
    """Once an hour: delete redrives that nobody started for a day."""
    from dlq.redrive.making import forget_drafts

    return forget_drafts()
