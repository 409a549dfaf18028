"""Celery's way in."""

from celery import shared_task


@shared_task(name="valkyr_timetravel.expire_checkpoints")
def expire_checkpoints() -> int:
    """Every hour: delete checkpoints of executions that ended long enough ago."""
    from valkyr_plugins.timetravel.checkpoints import expire

    return expire()
