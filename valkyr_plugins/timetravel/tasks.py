"""The Celery tasks of the plugin."""

from executions.public.messaging import task


@task("valkyr_timetravel.expire_checkpoints")
def expire_checkpoints() -> int:
    """Delete checkpoints whose retention is over; return their number. Runs once an hour."""
    from valkyr_plugins.timetravel.checkpoints import expire

    return expire()
