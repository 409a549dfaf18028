"""Celery's way in."""

from executions.public.messaging import CONTROL, send, task


@task("valkyr_redrive.drive")
def drive() -> int:
    """Every second, and again at once while there is more: carry redrives on for a moment."""
    from valkyr_plugins.redrive import driver

    turn = driver.drive_alone()
    if turn.more:
        send(drive.name, (), CONTROL, expires=5.0)
    return turn.moved


@task("valkyr_redrive.forget")
def forget() -> int:
    """Once an hour: delete redrives that nobody started for a day."""
    from valkyr_plugins.redrive.lifecycle import forget_drafts

    return forget_drafts()
