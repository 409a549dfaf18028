"""The Celery tasks of the plugin."""

from executions.public.messaging import CONTROL, send, task


@task("valkyr_version_migration.drive")
def drive() -> int:
    """Drive migrations briefly; return the number of handled executions. Runs every second."""
    from valkyr_plugins.version_migration import driver

    turn = driver.drive_alone()
    if turn.more:
        send(drive.name, (), CONTROL, expires=5.0)
    return turn.decided


@task("valkyr_version_migration.forget")
def forget() -> int:
    """Delete drafts that were not started within a day; return their number. Runs once an hour."""
    from valkyr_plugins.version_migration.lifecycle import forget_drafts

    return forget_drafts()
