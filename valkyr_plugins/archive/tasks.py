"""The Celery tasks of the plugin."""

from executions.public.messaging import CONTROL, broker_priority, send, task


@task("valkyr_archive.write")
def write() -> int:
    """Archive expired executions every hour, and at once while more wait; return their number."""
    from valkyr_plugins.archive import archiving

    done = archiving.turn()
    if done.more:
        send(write.name, (), CONTROL, expires=3600.0, priority=broker_priority(0))
    return done.executions
