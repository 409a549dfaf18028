"""Celery tasks of this plugin."""

from executions.public.messaging import CONTROL, send, task


@task("valkyr_redrive.drive")
def drive() -> int:
    """Continue redrives; return how many items were settled, sent or skipped. Runs every second."""
    from valkyr_plugins.redrive import driver

    turn = driver.drive_alone()
    if turn.more:
        send(drive.name, (), CONTROL, expires=5.0)
    return turn.moved


@task("valkyr_redrive.forget")
def forget() -> int:
    """Delete drafts that were not started within a day; return their number. Runs once an hour."""
    from valkyr_plugins.redrive.lifecycle import forget_drafts

    return forget_drafts()
