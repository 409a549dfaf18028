"""The Celery tasks of the plugin."""

from executions.public.messaging import CONTROL, broker_priority, send, task


@task("valkyr_archive.write")
def write() -> int:
    """Archive expired executions; return their number.

    Beat runs the task every hour; the task queues itself again while more executions are waiting.
    """
    from valkyr_plugins.archive import archiving

    done = archiving.turn()
    if done.more:
        send(write.name, (), CONTROL, expires=3600.0, priority=broker_priority(0))
    return done.executions
