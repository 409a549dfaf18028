"""The Celery tasks of the plugin."""

from executions.public.messaging import task


@task("valkyr_timetravel.expire_checkpoints")
def expire_checkpoints() -> int:
    """Delete, every hour, checkpoints of executions that ended long enough ago."""
    from valkyr_plugins.timetravel.checkpoints import expire

    return expire()
