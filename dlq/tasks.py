"""Celery's way in."""

from celery import shared_task

from dlq import retention


@shared_task(name="dlq.expire")
def expire() -> int:
    """Once a day: delete resolved dead letters whose time is over."""
    return retention.expire()
